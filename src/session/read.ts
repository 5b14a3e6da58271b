import { collectEvidence } from "../catalog/activation.ts";
import { callsOf, effectiveContext, openBatch, sentContext } from "../context/effective.ts";
import { repair } from "../context/repair.ts";
import { lastSuccess } from "../context/success.ts";
import type { Entry, Numbered, Part, ToolResult } from "../values/entry.ts";
import { addUsage, sumUsage } from "../values/usage.ts";
import { chainKey, standing } from "./chain.ts";
import { usedByChildren, usedFor } from "./children.ts";
import { refusedRewind } from "./compaction.ts";
import type { BeginRequest, BlobRow, EntryRow, PendingBatch, SessionSummary, TurnStart } from "./contract.ts";
import { History } from "./history.ts";
import { partialOf } from "./partial.ts";
import type { SessionRow, Store } from "./store.ts";
import { clientSystemOf } from "./system-updates.ts";

/** What the turn that holds the session starts from. Depends on what is stored, `history` included, and on nothing else. */
export function turnStart(
  store: Store,
  row: SessionRow,
  { chain: asked, rerun, fallback = false }: Pick<BeginRequest, "chain" | "rerun" | "fallback">,
  history: History,
): TurnStart {
  const { entries, open } = assembled(history.all, row);
  const effective = new Set(entries.map(({ seq }) => seq));
  const key = chainKey(asked, row.mode);
  const { sent, ...standingNow } = standing(store, asked.model, key, (seq) => effective.has(seq));
  return {
    kind: "go",
    fence: row.fence,
    turn: row.turn,
    resumed: row.resumed === 1,
    mode: row.mode,
    userSeq: row.user_seq,
    lastSeq: row.last_seq,
    deferrals: row.deferrals,
    sentThrough: row.sent_before,
    sentWire: row.wire_before,
    instructions: store.text("instructions"),
    clientSystem: clientSystemOf(entries, store.text("client_system")),
    ...standingNow,
    entries: rows(
      entries.filter(({ seq }) => !sent.has(seq)),
      history,
    ),
    evidence: collectEvidence(entries),
    lastSuccess: lastSuccess(entries),
    newestAssistant: entries.findLast(({ entry }) => entry.kind === "assistant")?.seq ?? null,
    pending: open === null ? null : pendingBatch(open, rerun, partialOf(store, open.seq)),
    step: row.step,
    ...(fallback ? { resting: store.resting() } : {}),
    ...(row.resumed === 0 ? {} : spentBefore(store, row, history, open)),
    blobs: blobsOf(store, entries),
    asked: row.asked,
  };
}

/** What the turn came to before this attempt. A row that is older than the column does not say when it began. */
function spentBefore(
  store: Store,
  row: SessionRow,
  { all }: History,
  open: Numbered | null,
): Pick<TurnStart, "began" | "spent" | "handedOver"> {
  const partial = open === null ? [] : partialOf(store, open.seq);
  const handed = sumUsage([usedByChildren(all.filter(({ entry }) => entry.turn === row.turn)), usedFor(partial)]);
  return {
    ...(row.began_at === 0 ? {} : { began: row.began_at }),
    spent: addUsage(store.usage(row.turn), handed),
    handedOver: handed.calls,
  };
}

/** The whole effective context with its blobs. */
export function wholeContext(store: Store, row: SessionRow): { entries: EntryRow[]; blobs: BlobRow[] } {
  const history = History.read(store, row);
  const { entries } = assembled(history.all, row);
  return { entries: rows(entries, history), blobs: blobsOf(store, entries) };
}

export function summaryOf(store: Store, row: SessionRow): SessionSummary {
  return {
    conversation: row.conversation,
    agent: row.agent,
    title: row.title,
    mode: row.mode,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    entries: row.last_seq,
    status: row.status,
    running: row.status === "running",
    usage: store.usage(),
    forkedFrom: row.forked_from === null ? null : { id: row.forked_from, at: row.forked_at },
  };
}

/** As many of `all` as a page holds: `limit` at most, and not above `size` characters unless the first is larger. */
export function firstPage<T>(all: Iterable<T>, limit: number, size: number, sizeOf: (one: T) => number) {
  const page: T[] = [];
  let room = size;
  for (const one of all) {
    room -= sizeOf(one);
    if (page.length >= limit || (room < 0 && page.length > 0)) return { page, more: true };
    page.push(one);
  }
  return { page, more: false };
}

/**
 * The effective, repaired context, and the batch of the running turn that has no results yet. Between turns it is without
 * what the provider refused.
 */
function assembled(all: readonly Numbered[], row: SessionRow) {
  const refused = refusedRewind(row, 0);
  const effective = effectiveContext(refused === null ? all : [...all, { seq: row.last_seq + 1, entry: refused }]);
  const newest = openBatch(effective);
  const open = row.status === "running" && newest?.entry.turn === row.turn ? newest : null;
  return { entries: repair(sentContext(effective), open?.seq ?? null), open };
}

function pendingBatch(
  { seq, entry }: NonNullable<ReturnType<typeof openBatch>>,
  rerun: readonly string[],
  results: readonly ToolResult[],
): PendingBatch {
  const calls = callsOf(entry).filter(({ id }) => !results.some(({ call }) => call === id));
  const ids = (again: boolean) => calls.filter(({ name }) => rerun.includes(name) === again).map(({ id }) => id);
  return { seq, calls: ids(true), interrupted: ids(false), results };
}

function rows(entries: readonly Numbered[], history: History): EntryRow[] {
  return entries.map((numbered): EntryRow => [numbered.seq, history.textOf(numbered)]);
}

/** The blobs that entries refer to and that we hold, each once. */
export function blobsOf(store: Store, entries: readonly Numbered[]): BlobRow[] {
  const hashes = new Set(entries.flatMap(({ entry }) => partsOf(entry).flatMap(hashOf)));
  return [...hashes].flatMap((hash) => store.blob(hash) ?? []);
}

function partsOf(entry: Entry): readonly Part[] {
  if (entry.kind === "user") return entry.content;
  return entry.kind === "results" ? entry.results.flatMap(({ content }) => content) : [];
}

function hashOf(part: Part): string[] {
  return part.type !== "text" && part.source.type === "blob" ? [part.source.hash] : [];
}
