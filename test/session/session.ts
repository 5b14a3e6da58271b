import type {
  AppendAnswer,
  AppendRequest,
  BeginAnswer,
  BeginRequest,
  CallRecord,
  SessionApi,
  SessionId,
  TurnStart,
} from "../../src/session/contract.ts";
import { type Block, type Entry, encodeEntry, type ToolResult } from "../../src/values/entry.ts";
import { NO_USAGE } from "../../src/values/usage.ts";
import type { Workerd } from "../workerd.ts";

export const MODEL = "anthropic/claude-sonnet-5";

/** Instructions as a turn freezes them. */
export const INSTRUCTIONS = JSON.stringify({ text: "Be kind.", revision: 1 });

/** The methods of the test worker's object that no session has. */
interface Extra {
  written(): Promise<number>;
  read(): Promise<number>;
  d1(up: boolean): Promise<void>;
  statements(): Promise<string[]>;
  tables(): Promise<{ name: string }[]>;
  longestText(): Promise<{ bytes: number; parts: number }>;
  reset(): Promise<void>;
  resetWithin(when: "before" | "after"): Promise<void>;
}

/** A session in workerd, through its client. */
export function session(workerd: Workerd, conversation: string): SessionApi & Extra & { readonly id: SessionId } {
  const id: SessionId = { owner: "ada", agent: "assistant", conversation };
  return new Proxy({} as SessionApi & Extra & { readonly id: SessionId }, {
    get(_, method: string) {
      if (method === "id") return id;
      if (method === "then") return undefined; // A session is no promise.
      return async (...args: unknown[]) => {
        const response = await workerd.fetch("/", { method: "POST", body: JSON.stringify({ id, method, args }) });
        const { answer, error } = (await response.json()) as { answer: unknown; error?: string };
        if (error !== undefined) throw new Error(error);
        return answer;
      };
    },
  });
}

export type TestSession = ReturnType<typeof session>;

/** As much of a session as a turn uses. */
export type Played = Pick<TestSession, "id" | "begin" | "append">;

const made = { v: 1, at: 1_000 } as const;

export function user(text: string, turn = "t"): string {
  return encodeEntry({ ...made, origin: "client", turn, kind: "user", content: [{ type: "text", text }] });
}

export function assistant(turn: string, blocks: readonly Block[], stop: "end" | "calls" = "end"): string {
  return encodeEntry({
    ...made,
    origin: "runtime",
    turn,
    kind: "assistant",
    model: MODEL,
    chain: MODEL,
    epoch: 1,
    blocks,
    stop,
  });
}

export const say = (text: string): Block => ({ type: "text", text });
export const call = (id: string, name: string): Block => ({ type: "call", id, name, input: "{}" });

export function results(turn: string, of: number, list: readonly Partial<ToolResult>[]): string {
  const entry: Entry = {
    ...made,
    origin: "runtime",
    turn,
    kind: "results",
    of,
    results: list.map((result) => ({ call: "", name: "tool", status: "ok", content: [], ...result })),
  };
  return encodeEntry(entry);
}

export const item = (seq: number, bytes: string): string =>
  JSON.stringify({ seq, role: "user", bytes, markable: true });

export function beginRequest({ id }: { id: SessionId }, fields: Partial<BeginRequest> = {}): BeginRequest {
  return {
    v: 1,
    id,
    minted: true,
    turn: "t1",
    leaseSeconds: 15,
    busy: "reject",
    wire: "anthropic/1",
    chain: { model: MODEL, perMode: false },
    user: user("hello"),
    blobs: [],
    sent: null,
    seed: [],
    clientSystem: null,
    rerun: ["tool_search"],
    ...fields,
  };
}

/** Begins a turn that must be allowed to. */
export async function begin(session: Played, fields: Partial<BeginRequest> = {}): Promise<TurnStart> {
  const answer: BeginAnswer = await session.begin(beginRequest(session, fields));
  if (answer.kind !== "go") throw new Error(`the turn may not begin: ${JSON.stringify(answer)}`);
  return answer;
}

export function callRecord(turn: string, fields: Partial<CallRecord> = {}): CallRecord {
  return {
    turn,
    step: 1,
    at: 2_000,
    model: MODEL,
    chain: MODEL,
    epoch: 1,
    verdict: { prefix: "extends" },
    place: null,
    hash: "h",
    segments: 3,
    deferredHash: "d",
    bytes: 100,
    end: 0,
    answered: true,
    usage: NO_USAGE,
    ...fields,
  };
}

/** An append that follows what `start` answered. */
export function append(
  session: Pick<TestSession, "append">,
  start: Pick<TurnStart, "fence" | "turn" | "lastSeq">,
  fields: Partial<AppendRequest> = {},
): Promise<AppendAnswer> {
  const { fence, turn, lastSeq } = start;
  return session.append({ v: 1, fence, turn, step: 1, kind: "finish", firstSeq: lastSeq + 1, entries: [], ...fields });
}

/** A whole one-step turn: the first of a session opens its epoch and records a baseline. */
export async function wholeTurn(session: Played, turn: string, text: string, answer: string): Promise<TurnStart> {
  const start = await begin(session, { turn, user: user(text, turn) });
  const first = start.chain === null;
  if (first) {
    const deferrals = JSON.stringify({ initial: ["clock", "tool_search"], loadPoints: {} });
    await append(session, start, { kind: "before", deferrals, instructions: INSTRUCTIONS, sentThrough: start.lastSeq });
  }
  const length = start.chain?.items.length ?? 0;
  const fresh = start.entries.map(([seq, entry]) => item(seq, entry));
  await append(session, start, {
    entries: [assistant(turn, [say(answer)])],
    chain: {
      key: MODEL,
      epoch: start.chain?.epoch ?? start.nextEpoch,
      open: first ? { verdict: { prefix: "first" }, revision: 1, prefix: '{"tools":[ ]}', base: null } : null,
      deferred: first ? ['{"name":"weather"}'] : [],
      items: fresh,
    },
    call: callRecord(turn, { end: length + fresh.length - 1, hash: `hash of ${turn}` }),
    end: { status: "done" },
  });
  return start;
}
