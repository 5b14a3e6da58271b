import type { SentMessage } from "../../src/context/align-history.ts";
import type { ChainWrite, TurnStart } from "../../src/session/contract.ts";
import { append, assistant, begin, call, callRecord, item, MODEL, type Played, results, say, user } from "./session.ts";

/** What every epoch of a played session opens with. */
export const PREFIX = '{"tools":["clock"]}';
export const DEFERRED: readonly string[] = ['{"name":"weather"}', '{"name":"tides"}'];
const PREFIX_MARKS = { settings: "s", tools: ["clock"], system: [] };

export interface PlayedTurn {
  readonly name: string;
  readonly asks: string;
  readonly answer: string;
  /** What the client shows before its question; null where it only appends. */
  readonly shown?: readonly SentMessage[] | null;
  /** How many steps call a tool before the answer. */
  readonly batches?: number;
  /** Whether the model's answers begin. */
  readonly answered?: boolean;
}

/**
 * A whole turn as the runtime plays it: each request is written with the items that it adds, an epoch that a rewind cut
 * is followed by one that goes on from what is left.
 */
export async function play(session: Played, turn: PlayedTurn): Promise<TurnStart> {
  const { name, asks, answer, shown = null, batches = 0, answered = true } = turn;
  const sent = shown === null ? null : [...shown, { role: "user" as const, text: asks }];
  const start = await begin(session, { turn: name, user: user(asks, name), sent });
  const { chain } = start;
  const opens = chain === null || chain.cut;
  const epoch = opens ? start.nextEpoch : chain.epoch;
  const base = chain === null ? null : { epoch: chain.epoch, items: chain.items.length };
  const verdict = { prefix: "first" } as const;
  const open = opens ? { verdict, revision: 1, prefix: PREFIX, marks: PREFIX_MARKS, base } : null;
  const write = (fields: Partial<ChainWrite>): ChainWrite => {
    const { deferred = [], items = [] } = fields;
    return {
      key: MODEL,
      epoch,
      open: null,
      deferred,
      items,
      marks: { deferred: marks(deferred), items: marks(items) },
      ...fields,
    };
  };

  let { lastSeq } = start;
  const fresh = start.entries.map(([seq, text]) => item(seq, text));
  let count = (chain?.items.length ?? 0) + fresh.length;
  let adds: ChainWrite | null = write({ open, deferred: opens ? DEFERRED : [], items: fresh });
  for (let step = 1; step <= batches; step++) {
    const id = `${name}-${step}`;
    const asked = assistant(name, [call(id, "clock")], "calls");
    const record = callRecord(name, { step, epoch, end: count - 1, answered });
    const written = adds === null ? {} : { chain: adds };
    await append(session, { ...start, lastSeq }, { kind: "answer", step, entries: [asked], call: record, ...written });
    const told = results(name, lastSeq + 1, [{ call: id, name: "clock" }]);
    const items = [item(lastSeq + 1, asked), item(lastSeq + 2, told)];
    const next = { chain: write({ items }), sentThrough: lastSeq + 2 };
    await append(session, { ...start, lastSeq: lastSeq + 1 }, { kind: "results", step, entries: [told], ...next });
    adds = null;
    lastSeq += 2;
    count += 2;
  }
  const step = batches + 1;
  const record = callRecord(name, { step, epoch, end: count - 1, answered, hash: `hash of ${name}` });
  const written = adds === null ? {} : { chain: adds };
  const end = { status: "done" } as const;
  await append(
    session,
    { ...start, lastSeq },
    { step, entries: [assistant(name, [say(answer)])], call: record, end, ...written },
  );
  return start;
}

/** The messages of turns, as a client shows them. */
export function conversation(...turns: readonly (readonly [asks: string, answer: string])[]): SentMessage[] {
  return turns.flatMap(([asks, answer]): SentMessage[] => [
    { role: "user", text: asks },
    { role: "assistant", text: answer },
  ]);
}

function marks(texts: readonly string[]): string[] {
  return texts.map((text) => `mark of ${text.length}`);
}
