import { expect, vi } from "vitest";
import { whyNotExtends } from "../emulators/anthropic/extends.ts";
import { createParking, parkAt, type RecordedRequest, startAnthropicEmulator } from "../emulators/anthropic/index.ts";
import { startWorkerd } from "../workerd.ts";
import { type Done, startKillHook } from "./hook.ts";
import { CALLS, LAST_TEXT, type Point, stepOf } from "./points.ts";
import { textOf } from "./table.ts";

const KEY = "kill-secret-kill-secret-kill";
/** Sessions of one life of workerd: with many more, one that is held waits so long for the others that its lease runs out. */
const AT_ONCE = 8;

/** What became of a turn whose process was killed at these points, one after the other. */
export interface Outcome {
  readonly points: readonly Point[];
  readonly end: "finished" | "failed readably";
  /** Requests to the model, those that were cut included. */
  readonly requests: number;
  /** The status of each call's result, in order. */
  readonly statuses: readonly string[];
}

/** One session, and where its process is still to be killed. */
class Victim {
  readonly session: string;
  readonly points: readonly Point[];
  readonly requests: RecordedRequest[] = [];
  reached = Promise.withResolvers<"reached">();
  /** What its client has seen of it before each kill: nothing of it may be lost. */
  seen: string[] = [];
  #left: Point[];
  #hit = 0;

  constructor(session: string, points: readonly Point[]) {
    this.session = session;
    this.points = points;
    this.#left = [...points];
  }

  get hit(): number {
    return this.#hit;
  }

  /** The next point, if this is it. */
  take(holds: (point: Point) => boolean): boolean {
    const [next] = this.#left;
    if (next === undefined || !holds(next)) return false;
    this.#left.shift();
    this.#hit += 1;
    this.reached.resolve("reached");
    return true;
  }
}

/**
 * Runs the scripted turn in one session for each list of points. All of them are held at their first point, then workerd
 * is killed once; what goes on by itself is held at its next point, and so on. Checks that whatever was hit leaves a valid
 * session that lost nothing, and answers what became of those that reached all of their points.
 */
export async function killAt(lists: readonly (readonly Point[])[]): Promise<Outcome[]> {
  const victims = new Map(lists.map((points, index) => [`v${index}`, new Victim(`v${index}`, points)]));
  const hook = await startKillHook(async (done: Done) => {
    const victim = victims.get(done.session);
    const held = victim?.take((point) =>
      done.kind === "write"
        ? point.at === "write" && point.n === done.n
        : point.at === "tool" && point.call === done.call,
    );
    if (held) await new Promise<void>(() => {});
  });
  const model = await startAnthropicEmulator({
    answer(request) {
      const victim = victims.get(/Session (v\d+)\./.exec(request.bodyText)?.[1] ?? "");
      if (victim === undefined) throw new Error("a request of no session");
      victim.requests.push(request);
      const { step, parts } = stepOf(request);
      const [next] = victim.points.slice(victim.hit);
      if (next?.at !== "event" || next.step !== step) return [...parts];
      const parking = createParking<RecordedRequest>();
      parking.parked.then(() => victim.take((point) => point === next));
      return [...parts, parkAt(next.n, parking)];
    },
  });
  const workerd = await startWorkerd({
    entry: "test/kill/worker.ts",
    bindings: {
      HOOK: hook.url,
      ANTHROPIC_API_KEY: "key",
      ANTHROPIC_BASE_URL: model.url,
      HOLDFAST_API_KEYS: `kill:${KEY}`,
      HOLDFAST_LEASE_SECONDS: "1",
    },
  });
  const ask = (path: string, init: RequestInit = {}) =>
    workerd.fetch(path, { ...init, headers: { authorization: `Bearer ${KEY}`, ...init.headers } });
  const entriesOf = async (session: string): Promise<Record<string, unknown>[]> => {
    const body: { entries?: Record<string, unknown>[] } = await (await ask(`/api/sessions/${session}/entries`)).json();
    return body.entries ?? [];
  };
  const over = async ({ session }: Victim) => {
    await vi.waitFor(
      async () => expect(await (await ask(`/api/sessions/${session}`)).json()).toMatchObject({ running: false }),
      { timeout: 60_000, interval: 100 },
    );
    return "over" as const;
  };

  try {
    const start = (victim: Victim) => {
      const said = ask("/v1/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json", "x-conversation-id": victim.session },
        body: JSON.stringify({ model: "killed", messages: [{ role: "user", content: "Do it." }] }),
      }).then(
        async (response) => void (await response.text()),
        () => undefined,
      );
      return Promise.race([victim.reached.promise, said]);
    };
    const all: Victim[] = [];
    const most = Math.max(...lists.map(({ length }) => length));
    for (let first = 0; first < lists.length; first += AT_ONCE) {
      const batch = [...victims.values()].slice(first, first + AT_ONCE);
      await Promise.all(batch.map(start));
      for (let kill = 1; kill <= most; kill++) {
        const held = batch.filter(({ hit }) => hit === kill);
        if (held.length === 0) break;
        await Promise.all(
          held.map(async (victim) => {
            victim.seen = (await entriesOf(victim.session)).map((entry) => JSON.stringify(entry));
            victim.reached = Promise.withResolvers();
          }),
        );
        await workerd.fresh();
        await Promise.all(held.map((victim) => Promise.race([victim.reached.promise, over(victim)])));
      }
      all.push(...batch.filter(({ hit, points }) => hit === points.length));
    }
    const outcomes: Outcome[] = [];
    for (const victim of all) {
      await over(victim);
      const text = textOf(victim.points);
      const entries = await entriesOf(victim.session);
      const told = await (await ask(`/api/sessions/${victim.session}/stream`)).text();
      const finished = JSON.stringify(entries.at(-1)).includes(LAST_TEXT);
      const failure = /"type":"failed".*"message":"([^"]+)"/.exec(told)?.[1];
      if (!finished) expect(failure, `${text}: the turn neither finished nor said why`).toBeDefined();

      const now = entries.map((entry) => JSON.stringify(entry));
      expect(now.slice(0, victim.seen.length), `${text}: what was there is there`).toEqual(victim.seen);
      const results = entries.flatMap((entry) => (entry.results ?? []) as { call: string; status: string }[]);
      const called = entries.flatMap((entry) =>
        ((entry.content ?? []) as { type: string; id: string }[]).flatMap(({ type, id }) =>
          type === "call" ? [id] : [],
        ),
      );
      expect(results.map((result) => result.call).sort(), `${text}: one result a call`).toEqual(called.sort());
      for (const id of ["c1_send", "c3_send"]) {
        expect(hook.effects.get(`${victim.session}/${id}`) ?? 0, `${text}: ${id} at most once`).toBeLessThanOrEqual(1);
      }
      for (const [index, request] of victim.requests.entries()) {
        expect(request.error, `${text}: request ${index + 1}`).toBeNull();
        const before = victim.requests[index - 1];
        if (before) expect(whyNotExtends(before.bodyText, request.bodyText), `${text}: ${index + 1}`).toBeNull();
      }
      outcomes.push({
        points: victim.points,
        end: finished ? "finished" : "failed readably",
        requests: victim.requests.length,
        statuses: CALLS.flatMap((id) => results.find((result) => result.call === id)?.status ?? []),
      });
    }
    expect(model.takeProblems()).toEqual([]);
    return outcomes;
  } finally {
    await workerd.dispose();
    await model.close();
    await hook.close();
  }
}
