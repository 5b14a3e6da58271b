import { request } from "node:http";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { whyNotExtends } from "../emulators/anthropic/extends.ts";
import {
  call,
  createParking,
  type Emulator,
  type Parking,
  parkAt,
  type RecordedRequest,
  say,
  startAnthropicEmulator,
} from "../emulators/anthropic/index.ts";
import { startWorkerd, type Workerd } from "../workerd.ts";

const KEY = "ann-secret-ann-secret-ann";

/** Where the client is when it leaves: the step's answer is held before its headers or after so many events. */
type Place = { readonly step: 1 | 2; readonly at: number | "headers" };
const PLACES: readonly Place[] = ([1, 2] as const).flatMap((step) =>
  (["headers", 1, 2, 3, 4, 5, 6, 7, 8] as const).map((at) => ({ step, at })),
);

let model: Emulator;
let workerd: Workerd;
/** What the model holds back in each conversation, by the name in its first message. */
const parked = new Map<string, { readonly place: Place; readonly parking: Parking<RecordedRequest> }>();
beforeAll(async () => {
  model = await startAnthropicEmulator({
    answer({ bodyText }) {
      const name = /I am (\S+)\./.exec(bodyText)?.[1] ?? "";
      if (bodyText.includes("And now?")) return say("Here I am.");
      const step = bodyText.includes("call_clock") ? 2 : 1;
      const parts = step === 1 ? [say("A moment."), call("clock", {}, "call_clock")] : [say("It is noon.")];
      const held = parked.get(name);
      return held?.place.step === step ? [...parts, parkAt(held.place.at, held.parking)] : parts;
    },
  });
  workerd = await startWorkerd({
    entry: "test/e2e/worker.ts",
    bindings: {
      MODEL: "anthropic/claude-sonnet-5",
      ANTHROPIC_API_KEY: "key",
      ANTHROPIC_BASE_URL: model.url,
      HOLDFAST_API_KEYS: `ann:${KEY}`,
    },
  });
});
afterAll(async () => {
  await workerd.dispose();
  await model.close();
});

const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
const until = (what: () => Promise<void>) => vi.waitFor(what, { timeout: 15_000, interval: 25 });

interface Conversation {
  readonly running: boolean;
  readonly entries: readonly {
    kind: string;
    stop?: string;
    content?: { type: string; id?: string }[];
    results?: { call: string }[];
  }[];
}

async function read(conversation: string): Promise<Conversation> {
  const get = async (path: string) => (await workerd.fetch(`/api/sessions/${conversation}${path}`, { headers })).json();
  const [summary, { entries = [] }] = (await Promise.all([get(""), get("/entries")])) as [Conversation, Conversation];
  return { running: summary.running, entries };
}

/** Sends a request that streams, over a socket of its own, and destroys it once the model is held there. */
async function leaveAt(place: Place, name: string, path: string, body: object, more: Record<string, string> = {}) {
  const parking = createParking<RecordedRequest>();
  parked.set(name, { place, parking });
  const sent = request(new URL(path, workerd.url).href, {
    method: "POST",
    headers: { ...headers, ...more },
    agent: false,
  });
  sent.on("error", () => {});
  sent.on("response", (response) => response.resume());
  sent.end(JSON.stringify(body));
  await parking.parked;
  sent.socket?.resetAndDestroy();
  return parking;
}

/** The conversation goes on behind all that was sent, and each call has one result. */
async function expectGoesOn(name: string): Promise<void> {
  const said = await workerd.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { ...headers, "x-conversation-id": name },
    body: JSON.stringify({ model: "tester", messages: [{ role: "user", content: "And now?" }] }),
  });
  expect(await said.text()).toContain("Here I am.");
  const { entries } = await read(name);
  expect(entries.flatMap(({ results = [] }) => results.map((result) => result.call))).toEqual(
    entries.flatMap(({ content = [] }) => content.flatMap(({ type, id }) => (type === "call" ? [id] : []))),
  );
  const requests = model.requests.filter(({ bodyText }) => bodyText.includes(`I am ${name}.`));
  for (const [index, one] of requests.entries()) {
    expect(one.error).toBeNull();
    const before = requests[index - 1];
    if (before) expect(whyNotExtends(before.bodyText, one.bodyText)).toBeNull();
  }
}

test("a client of Chat Completions that is gone at any event of the answer stops the turn, which leaves it valid", async () => {
  await Promise.all(
    PLACES.map(async (place) => {
      const name = `chat-${place.step}-${place.at}`;
      const body = { model: "tester", stream: true, messages: [{ role: "user", content: `I am ${name}.` }] };
      await leaveAt(place, name, "/v1/chat/completions", body, { "x-conversation-id": name });
      await until(async () => expect((await read(name)).running).toBe(false));
      expect(JSON.stringify((await read(name)).entries)).not.toContain("It is noon.");
      await expectGoesOn(name);
    }),
  );
  const gone = model.requests.filter(({ outcome }) => outcome === "client_gone");
  expect(gone.length).toBe(PLACES.length);
});

test("a client of A2A that is gone at any event of the answer stops nothing: the turn goes on to its end", async () => {
  await Promise.all(
    PLACES.map(async (place) => {
      const name = `a2a-${place.step}-${place.at}`;
      const message = { messageId: name, contextId: name, role: "ROLE_USER", parts: [{ text: `I am ${name}.` }] };
      const body = { jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message } };
      const parking = await leaveAt(place, name, "/a2a", body, { "a2a-version": "1.0" });
      expect((await read(name)).running).toBe(true);
      parking.release();
      await until(async () => expect((await read(name)).running).toBe(false));
      expect(JSON.stringify((await read(name)).entries.at(-1))).toContain("It is noon.");
      await expectGoesOn(name);
    }),
  );
});
