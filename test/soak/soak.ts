import { setTimeout as sleep } from "node:timers/promises";
import { whyNotExtends } from "../emulators/anthropic/extends.ts";
import {
  type AnswerRequest,
  call,
  destroyAt,
  httpFailure,
  overloaded,
  type Part,
  say,
  startAnthropicEmulator,
} from "../emulators/anthropic/index.ts";
import { seeded } from "../seeded.ts";
import { startWorkerd } from "../workerd.ts";
import { d1IsDown } from "./d1-outages.ts";
import { collected, type Memory } from "./memory.ts";

const KEY = "soak-secret-soak-secret-soak";

/** A session ends after so many turns, and its client begins another. */
const TURNS_A_SESSION = 12;

/** One in so many model calls fails: overloaded, broken, or cut in mid-answer. */
const PROVIDER_FAULTS = 8;

export interface SoakOptions {
  /** How many sessions talk at once. */
  readonly sessions: number;
  readonly seconds: number;
  /** The longest a client thinks between two messages. */
  readonly thinkMs: number;
  /** workerd is killed this often, but not in the last third. */
  readonly killEveryMs: number;
  /** Its memory is read this often in the last third; not at all if not given. */
  readonly memoryEveryMs?: number;
  readonly seed: number;
}

export interface SoakReport {
  readonly turns: number;
  readonly sessions: number;
  readonly requests: number;
  readonly kills: number;
  /** Turns that met a fault, and how many met which. */
  readonly faulty: number;
  readonly met: Readonly<Record<"provider" | "kill" | "d1", number>>;
  /** What must be empty. */
  readonly invalid: readonly string[];
  readonly lost: readonly string[];
  /** What workerd held in the last third, except its beginning: after a kill the sessions' objects come back one by one. */
  readonly memory: readonly Memory[];
}

type Met = { provider: boolean; kill: boolean; d1: boolean };

/**
 * Clients that talk with their sessions while the provider fails, workerd is killed and D1 goes down, each by a seed.
 * They do what real ones do: wait when told to, and send a message again that got no answer, with its key.
 */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const { sessions, seconds, thinkMs, killEveryMs } = options;
  const random = seeded(options.seed);
  const invalid: string[] = [];
  const lost: string[] = [];
  const last = new Map<string, string>();
  const running = new Map<string, Met>();
  const met = { provider: 0, kill: 0, d1: 0 };
  let requests = 0;
  let turns = 0;
  let faulty = 0;
  let kills = 0;

  const answer = (request: AnswerRequest): Part[] => {
    requests += 1;
    const session = /Session (s\d+-\d+)\./.exec(request.bodyText)?.[1] ?? "";
    const before = last.get(session);
    const why = before === undefined ? null : whyNotExtends(before, request.bodyText);
    if (why !== null) invalid.push(`${session}: ${why}`);
    last.set(session, request.bodyText);
    if (random() * PROVIDER_FAULTS < 1) {
      const turn = running.get(session);
      if (turn) turn.provider = true;
      const kind = Math.floor(random() * 3);
      if (kind === 0) return [overloaded(false)];
      if (kind === 1) return [httpFailure(500, "api_error", "Broken.", { "x-should-retry": "false" })];
      return [say("This will not be"), destroyAt(3)];
    }
    return play(request, random());
  };
  const model = await startAnthropicEmulator({ answer });
  const workerd = await startWorkerd({
    entry: "test/soak/worker.ts",
    inspect: options.memoryEveryMs !== undefined,
    bindings: {
      ANTHROPIC_API_KEY: "key",
      ANTHROPIC_BASE_URL: model.url,
      HOLDFAST_API_KEYS: `soak:${KEY}`,
      HOLDFAST_LEASE_SECONDS: "2",
    },
  });
  const start = Date.now();
  const end = start + seconds * 1_000;
  const ask = (path: string, init: RequestInit = {}) =>
    workerd.fetch(path, { ...init, headers: { authorization: `Bearer ${KEY}`, ...init.headers } });

  /** Says something until it is answered. Answers the text. */
  const answered = async (session: string, text: string, turn: Met): Promise<string> => {
    for (let tries = 0; ; tries++) {
      if (d1IsDown(Date.now())) turn.d1 = true;
      const response = await ask("/v1/chat/completions", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-conversation-id": session,
          "idempotency-key": `${session} ${text}`,
        },
        body: JSON.stringify({ model: "soaked", messages: [{ role: "user", content: text }] }),
      }).catch(() => null);
      const body = (await response?.json().catch(() => null)) as {
        choices?: { message: { content: string } }[];
      } | null;
      const [choice] = body?.choices ?? [];
      if (choice !== undefined) return choice.message.content;
      if (tries > 100) throw new Error(`${session}: no answer to ${text}: ${JSON.stringify(body)}`);
      await sleep(Number(response?.headers.get("retry-after") ?? 0.2) * 1_000);
    }
  };
  const check = async (session: string, answers: readonly string[]) => {
    const response = await ask(`/api/sessions/${session}/entries?limit=500`).catch(() => null);
    // A kill may come in the middle of the answer, too.
    const body = response?.ok ? await response.json().catch(() => null) : null;
    if (body === null) return false;
    const { entries } = body as {
      entries: { content?: { type: string; id?: string }[]; results?: { call: string }[] }[];
    };
    const text = JSON.stringify(entries);
    for (const one of answers) if (!text.includes(one)) lost.push(`${session}: ${one}`);
    const calls = entries.flatMap(({ content = [] }) =>
      content.flatMap(({ type, id }) => (type === "call" ? [id] : [])),
    );
    const results = entries.flatMap((entry) => (entry.results ?? []).map((result) => result.call));
    if (JSON.stringify(calls) !== JSON.stringify(results))
      invalid.push(`${session}: calls ${calls}, results ${results}`);
    return true;
  };
  const client = async (n: number) => {
    let goesOn = true;
    for (let nth = 0; goesOn; nth++) {
      const session = `s${n}-${nth}`;
      const answers: string[] = [];
      for (let turn = 1; turn <= TURNS_A_SESSION; turn++) {
        const thinks = random() * thinkMs;
        goesOn = Date.now() + thinks < end;
        if (!goesOn) break;
        await sleep(thinks);
        const meets: Met = { provider: false, kill: false, d1: false };
        running.set(session, meets);
        const text = await answered(session, `Message ${turn}.`, meets);
        if (text !== "") answers.push(lastLine(text));
        running.delete(session);
        turns += 1;
        if (meets.provider || meets.kill || meets.d1) faulty += 1;
        for (const kind of ["provider", "kill", "d1"] as const) if (meets[kind]) met[kind] += 1;
      }
      while (answers.length > 0 && !(await check(session, answers))) await sleep(200);
      last.delete(session);
    }
  };
  const memory: Memory[] = [];
  const kill = async () => {
    const calm = start + (seconds * 1_000 * 2) / 3;
    while (Date.now() + killEveryMs < calm) {
      await sleep(killEveryMs);
      for (const turn of running.values()) turn.kill = true;
      await workerd.fresh();
      kills += 1;
    }
    if (options.memoryEveryMs === undefined) return;
    await sleep((end - calm) / 4);
    while (Date.now() + options.memoryEveryMs < end) {
      await sleep(options.memoryEveryMs);
      memory.push(await collected(await workerd.inspector()));
    }
  };
  try {
    await Promise.all([kill(), ...Array.from({ length: sessions }, (_, n) => client(n))]);
    const refused = model.requests.flatMap(({ error, n }) => {
      const scripted = error === null || error.rule === "E-A34" || error.status >= 500;
      return scripted ? [] : [`request ${n}: ${error.rule}: ${error.message}`];
    });
    invalid.push(...refused, ...model.takeProblems().map(({ message }) => message));
    const began = (await countSessions(await workerd.d1())) ?? 0;
    return { turns, sessions: began, requests, kills, faulty, met, invalid, lost, memory };
  } finally {
    await workerd.dispose();
    await model.close();
  }
}

/** One to three steps: a search, what it loaded, tools at once, or only words. The text is one of its kind. */
function play({ bodyText, toolResultsOfLastMessage: results, n }: AnswerRequest, draw: number): Part[] {
  if (results.length > 0 || draw < 0.4) return [say(`Answer ${n}.`)];
  if (draw < 0.6 && !bodyText.includes("tool_reference")) return [call("tool_search", { query: "weather" })];
  if (draw < 0.8 && bodyText.includes("tool_reference")) return [call("weather", { text: `w${n}` })];
  return [say("Two at once."), call("note", { text: `n${n}` }), call("once", { text: `o${n}` })];
}

function lastLine(text: string): string {
  return text.split("\n").at(-1) ?? text;
}

async function countSessions(db: D1Database): Promise<number | undefined> {
  return (await db.prepare("SELECT count(*) AS count FROM sessions").first<{ count: number }>())?.count;
}
