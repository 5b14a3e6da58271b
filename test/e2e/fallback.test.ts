import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, type OpenAIEmulator, rateLimited, say, startOpenAIEmulator } from "../emulators/openai/index.ts";
import { type ChatEmulator, startChatEmulator } from "../emulators/openai-chat/index.ts";
import { startWorkerd, type Workerd } from "../workerd.ts";
import { KEYS } from "./chat.ts";

let openai: OpenAIEmulator;
let acme: ChatEmulator;
let workerd: Workerd;
beforeAll(async () => {
  openai = await startOpenAIEmulator();
  acme = await startChatEmulator({ apiKey: "acme-key" });
  workerd = await startWorkerd({
    entry: "test/e2e/fallback-worker.ts",
    bindings: {
      ...{ OPENAI_API_KEY: "key", OPENAI_BASE_URL: openai.url, ACME_URL: acme.url, ACME_KEY: "acme-key" },
      HOLDFAST_API_KEYS: `ann:${KEYS.ann}`,
    },
    verbose: process.env.VERBOSE !== undefined,
  });
});
afterAll(async () => {
  await workerd?.dispose();
  await openai?.close();
  await acme?.close();
});
beforeEach(() => {
  openai.reset();
  acme.reset();
});

/** A message of an unmodified client, and the answer with the header on its prefix. */
async function ask(conversation: string, content: string) {
  const client = new OpenAI({ baseURL: new URL("/v1", workerd.url).href, apiKey: KEYS.ann, maxRetries: 0 });
  const { data, response } = await client.chat.completions
    .create(
      { model: "helper", messages: [{ role: "user", content }] },
      { headers: { "x-conversation-id": conversation } },
    )
    .withResponse();
  return { text: data.choices[0]?.message.content, prefix: response.headers.get("x-holdfast-prefix") };
}

async function ledger(conversation: string): Promise<string[]> {
  const path = `/api/sessions/${conversation}/ledger`;
  const response = await workerd.fetch(path, { headers: { authorization: `Bearer ${KEYS.ann}` } });
  const { calls }: { calls: { model: string; prefix: string; answered: boolean }[] } = await response.json();
  return calls.map(({ model, prefix, answered }) => `${model} ${prefix}${answered ? "" : " unanswered"}`);
}

test("in workerd: OpenAI loads a tool, a compatible endpoint takes over through the bridge, and OpenAI goes on", async () => {
  openai.script(call("tool_search", { query: "weather" }), call("weather"), say("Rain."));
  expect(await ask("switch", "Weather?")).toEqual({ text: "Rain.", prefix: "first" });

  await workerd.fresh();
  openai.fail(rateLimited(300));
  acme.script(call("call_tool", { name: "weather", arguments: {} }), say("Still."));
  expect(await ask("switch", "And now?")).toEqual({ text: "Still.", prefix: "break; cause=model" });
  expect(acme.requests[0]?.headers["x-team"]).toBe("support");

  await workerd.fresh();
  acme.script(say("Resting."));
  expect(await ask("switch", "And?")).toEqual({ text: "Resting.", prefix: "extends" });
  expect(openai.requests).toHaveLength(4);

  const all = [...openai.requests, ...acme.requests].map(({ status }) => status);
  expect(all.filter((status) => status !== 200)).toEqual([429]);
  expect(await ledger("switch")).toEqual([
    "openai/gpt-5.4 first",
    "openai/gpt-5.4 extends",
    "openai/gpt-5.4 extends",
    "openai/gpt-5.4 extends unanswered",
    "acme/large break; cause=model",
    "acme/large extends",
    "acme/large extends",
  ]);
});

test("where nobody answers the client gets the last one's status and its retry-after", async () => {
  openai.fail(rateLimited(7));
  acme.fail(rateLimited(9));
  await expect(ask("nobody", "Hello?")).rejects.toMatchObject({ status: 429 });
});
