import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { QUOTAS, type Quotas } from "../../src/define/quotas.ts";
import { exceeded, type Used } from "../../src/session/admission.ts";
import { SessionClient } from "../../src/session/client.ts";
import { Session } from "../../src/session/session.ts";
import { nodeStorage } from "../../src/testing/node-storage.ts";
import { beginWithin } from "../../src/turn/quotas.ts";
import { HoldfastError } from "../../src/values/errors.ts";
import { nodeD1 } from "../node-d1.ts";
import { append, beginRequest } from "./session.ts";

const SEED = 2026_11_30;
const TURNS = 2;
const SECONDS = 600;
const LEASE_MS = 15_000;

type Step =
  | { readonly kind: "begin"; readonly owner: number; readonly session: number }
  | { readonly kind: "finish" | "die"; readonly which: number }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "flush"; readonly which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("begin"), owner: fc.nat(1), session: fc.nat(4) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("finish"), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("die"), which: fc.nat(20) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("flush"), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pass"), ms: fc.constantFrom(1_000, LEASE_MS, 700_000) }) },
);

/** A turn that was let in and has not ended. */
interface Running {
  readonly owner: string;
  readonly conversation: string;
  readonly start: { readonly fence: number; readonly turn: string; readonly lastSeq: number };
  readonly since: number;
}

/** Owners, their sessions and one database, in process; time is what the test says. */
class World {
  readonly db = new DatabaseSync(":memory:");
  readonly d1 = nodeD1(this.db);
  now = 1_796_000_000_000;
  #turns = 0;
  readonly #sessions = new Map<string, Session>();

  constructor() {
    const folder = resolve(import.meta.dirname, "../../migrations");
    for (const file of readdirSync(folder).sort()) this.db.exec(readFileSync(join(folder, file), "utf8"));
  }

  session(owner: string, conversation: string): Session {
    const name = JSON.stringify([owner, "assistant", conversation]);
    const known = this.#sessions.get(name);
    if (known !== undefined) return known;
    const session = new Session({
      storage: nodeStorage(),
      db: this.d1,
      name,
      waitUntil: () => {},
      setAlarm: async () => {},
      now: () => this.now,
    });
    this.#sessions.set(name, session);
    return session;
  }

  /** The turn, or why it may not begin. */
  async begin(owner: string, conversation: string, quotas: Partial<Quotas>) {
    const turn = `t${++this.#turns}`;
    const id = { owner, agent: "assistant", conversation };
    const deps = {
      quotas: { ...QUOTAS, ...quotas },
      env: { DB: this.d1 } as Cloudflare.Env,
      session: new SessionClient({ getByName: () => this.session(owner, conversation) }, conversation),
      now: () => this.now,
      log: () => {},
    };
    try {
      return await beginWithin(deps, beginRequest({ id }, { turn }), SECONDS);
    } catch (error) {
      if (error instanceof HoldfastError) return { kind: "refused", failure: error.failure } as const;
      throw error;
    }
  }

  async finish(owner: string, conversation: string, start: Running["start"]): Promise<void> {
    await append(this.session(owner, conversation), start);
  }
}

test("whatever the order of begins, deaths and ends, no more turns run at once than may, and room is used", async () => {
  console.log(`admissions from seed ${SEED}`);
  const seen = { admitted: 0, refused: 0, busy: 0, died: 0, finished: 0 };
  const property = fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: "max" }), async (steps) => {
    const world = new World();
    let running: Running[] = [];
    /** Turns whose end, or whose death, D1 has not heard of: they take room until their time is over. */
    let unheard: Running[] = [];
    const counting = (owner: string, but: string) => {
      const current = [...running, ...unheard].filter(({ since }) => world.now < since + SECONDS * 1_000 + 60_000);
      return new Set(
        current
          .filter((one) => one.owner === owner && one.conversation !== but)
          .map(({ conversation }) => conversation),
      );
    };
    for (const next of steps) {
      if (next.kind === "pass") world.now += next.ms;
      if (next.kind === "begin") {
        const [owner, conversation] = [`o${next.owner}`, `c${next.session}`];
        const others = counting(owner, conversation);
        const answer = await world.begin(owner, conversation, { turns: TURNS });
        if (answer.kind === "refused") {
          seen.refused += 1;
          expect(answer.failure).toMatchObject({ reason: "quota", quota: "turns" });
          // Never without need.
          expect(others.size).toBeGreaterThanOrEqual(TURNS);
        } else if (answer.kind === "busy") {
          seen.busy += 1;
        } else if (answer.kind === "go") {
          seen.admitted += 1;
          const gone = running.filter((one) => one.owner === owner && one.conversation === conversation);
          running = running.filter((one) => !gone.includes(one));
          unheard.push(...gone);
          running.push({ owner, conversation, start: answer, since: world.now });
          const live = running.filter((one) => one.owner === owner && world.now < one.since + SECONDS * 1_000);
          expect(new Set(live.map((one) => one.conversation)).size).toBeLessThanOrEqual(TURNS);
        } else throw new Error(`a turn was answered with ${answer.kind}`);
      }
      const one = "which" in next ? running[next.which % Math.max(1, running.length)] : undefined;
      if (one !== undefined && next.kind !== "flush") {
        running = running.filter((other) => other !== one);
        unheard.push(one);
        seen[next.kind === "die" ? "died" : "finished"] += 1;
        if (next.kind === "finish") await world.finish(one.owner, one.conversation, one.start);
      }
      if (next.kind === "flush") {
        const all = [...running, ...unheard];
        const flushed = all[next.which % Math.max(1, all.length)];
        if (flushed === undefined) continue;
        const { owner, conversation } = flushed;
        const session = world.session(owner, conversation);
        await session.flushed();
        const runs = (await session.summary())?.running;
        // A flush tells D1 of all turns of its session, the dead ones included, when none of them runs any more.
        if (!runs) unheard = unheard.filter((other) => other.owner !== owner || other.conversation !== conversation);
      }
    }
  });
  const details = await fc.check(property, { numRuns: 60, seed: SEED });
  const why = details.errorInstance instanceof Error ? details.errorInstance.message : "";
  expect(details.failed, `${why}\n${fc.defaultReportMessage(details)}`).toBe(false);
  expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(10);
});

describe("a quota that is used up", () => {
  const none: Used = { turns: 0, sessions: 0, bytes: 0, tokens: 0, known: false };
  const quotas: Quotas = { turns: 2, sessions: 2, bytes: 100, tokensPerDay: 10 };
  test.each<[string, Partial<Used>, keyof Quotas | null]>([
    ["nothing", {}, null],
    ["all but one", { turns: 1, sessions: 1, bytes: 99, tokens: 9 }, null],
    ["turns", { turns: 2 }, "turns"],
    ["sessions", { sessions: 2 }, "sessions"],
    ["sessions, and this one is there", { sessions: 2, known: true }, null],
    ["bytes, before all others", { turns: 2, sessions: 2, bytes: 100, tokens: 10 }, "bytes"],
    ["tokens, before turns", { turns: 2, tokens: 10 }, "tokensPerDay"],
  ])("%s", (_, used, quota) => {
    expect(exceeded({ ...none, ...used }, quotas)).toBe(quota);
  });

  test.each(["turns", "sessions", "bytes", "tokensPerDay"] as const)("counts for nothing where %s is off", (off) => {
    const much = { turns: 1e9, sessions: 1e9, bytes: 1e15, tokens: 1e12, known: false };
    const open: Quotas = { turns: false, sessions: false, bytes: false, tokensPerDay: false };
    expect(exceeded(much, open)).toBeNull();
    expect(exceeded(much, { ...open, [off]: 5 })).toBe(off);
  });
});

describe("one statement lets a turn in", () => {
  test("and two that come at the same moment don't share the last place", async () => {
    const world = new World();
    const answers = await Promise.all(["a", "b", "c"].map((name) => world.begin("ann", name, { turns: 2 })));
    expect(answers.map(({ kind }) => kind).sort()).toEqual(["go", "go", "refused"]);
    expect((await world.begin("bob", "a", { turns: 2 })).kind).toBe("go");
  });

  test("which no one is left out of who was refused by the session itself", async () => {
    const world = new World();
    await world.begin("ann", "a", { turns: 1 });
    expect((await world.begin("ann", "a", { turns: 1 })).kind).toBe("busy");
    expect(world.db.prepare("SELECT count(*) AS n FROM admissions").get()).toMatchObject({ n: 1 });
  });

  test("unless one of the sums is used up, and a session that is there goes on", async () => {
    const world = new World();
    const first = await world.begin("ann", "a", {});
    if (first.kind !== "go") throw new Error(first.kind);
    await world.finish("ann", "a", first);
    await world.session("ann", "a").flushed();
    const quotaOf = async (quotas: Partial<Quotas>, conversation: string) => {
      const answer = await world.begin("ann", conversation, quotas);
      return answer.kind === "refused" && answer.failure.reason === "quota" ? answer.failure : answer.kind;
    };
    expect(await quotaOf({ sessions: 1 }, "b")).toMatchObject({ quota: "sessions" });
    expect(await quotaOf({ bytes: 1_000 }, "a")).toMatchObject({ quota: "bytes" });
    world.db.exec("INSERT INTO usage VALUES ('ann', '2026-11-30', 40, 1000, 30, 30, 1)");
    expect(await quotaOf({ tokensPerDay: 100 }, "a")).toMatchObject({
      ...{ quota: "tokensPerDay", retryAfter: Math.ceil((Date.UTC(2026, 11, 1) - world.now) / 1_000) },
    });
    expect(await quotaOf({ tokensPerDay: 101, sessions: 1 }, "a")).toBe("go");
    // Nothing was stored for those that were refused.
    expect(await world.session("ann", "b").summary()).toBeNull();
    await world.session("ann", "a").remove();
    expect(await quotaOf({ sessions: 1 }, "b")).toBe("go");
  });

  test("and where D1 is down it begins all the same, which is logged", async () => {
    const logged: string[] = [];
    const id = { owner: "ann", agent: "assistant", conversation: "a" };
    const down = {
      prepare() {
        throw new Error("D1 is down");
      },
    } as unknown as D1Database;
    const answer = await beginWithin(
      {
        quotas: QUOTAS,
        env: { DB: down } as Cloudflare.Env,
        session: new SessionClient({ getByName: () => new World().session("ann", "a") }, "a"),
        now: () => 1_000,
        log: (event) => logged.push(event),
      },
      beginRequest({ id }),
      false,
    );
    expect(answer.kind).toBe("go");
    expect(logged).toEqual(["quotas not checked"]);
  });

  test("and without quotas D1 is not asked at all", async () => {
    const db = {
      get prepare(): never {
        throw new Error("D1 was asked");
      },
    } as unknown as D1Database;
    const asked = { quotas: null, env: { DB: db } as Cloudflare.Env, now: () => 1_000, log: () => {} };
    const session = new SessionClient({ getByName: () => new World().session("ann", "a") }, "a");
    const id = { owner: "ann", agent: "assistant", conversation: "a" };
    expect((await beginWithin({ ...asked, session }, beginRequest({ id }), 10)).kind).toBe("go");
  });

  test("by one statement of D1, and no other", async () => {
    const world = new World();
    const statements: string[] = [];
    const prepare = world.d1.prepare.bind(world.d1);
    world.d1.prepare = (query) => {
      statements.push(query);
      return prepare(query);
    };
    expect((await world.begin("ann", "a", {})).kind).toBe("go");
    expect(statements).toHaveLength(1);
  });
});
