import type { AssistantEntry, CompactionEntry, Entry, Numbered } from "../values/entry.ts";

/**
 * The entries that are really part of the conversation, in the order in which they are sent: without what a rewind
 * took back or a compaction left out, without answers of which nothing was left, results right after their calls, and
 * every host search at its place (design §3.2). `all` is a session's entries by sequence number; those that an earlier
 * rewind took back, and it with them, may be left out (`cuts.ts`).
 */
export function effectiveContext(all: readonly Numbered[]): Numbered[] {
  return compacted(inForce(uncompacted(all)));
}

/** What would be effective if nothing had ever been compacted: the conversation as its user knows it. */
export function uncompacted(all: readonly Numbered[]): Numbered[] {
  return toldEntries(all).filter(({ entry }) => isEffective(entry));
}

/** Without the system updates that were withdrawn, and what withdrew them. */
function inForce(entries: readonly Numbered[]): readonly Numbered[] {
  const withdrawn = entries.findLast(({ entry }) => entry.kind === "system_update" && entry.withdraws)?.seq ?? 0;
  if (withdrawn === 0) return entries;
  return entries.filter(
    ({ seq, entry }) => entry.kind !== "system_update" || entry.origin === "client" || seq > withdrawn,
  );
}

/** The entries that no rewind took back, sent or not, each at its place. */
export function toldEntries(all: readonly Numbered[]): Numbered[] {
  const cut = cutByRewinds(all);
  return inOrder(all).filter(({ seq }) => !cut.has(seq));
}

/** What the newest compaction left: itself, what it kept, and all that came after it. */
function compacted(entries: readonly Numbered[]): Numbered[] {
  let newest: Numbered<CompactionEntry> | null = null;
  for (const { seq, entry } of entries) {
    if (entry.kind === "compaction" && seq > (newest?.seq ?? 0)) newest = { seq, entry };
  }
  if (newest === null) return [...entries];
  const { seq: at, entry } = newest;
  const kept = new Set(entry.kept);
  return [newest, ...entries.filter(({ seq }) => seq > at || kept.has(seq))];
}

/** The calls of an answer, in order. */
export function callsOf(entry: AssistantEntry) {
  return entry.blocks.filter((block) => block.type === "call");
}

/** An answer after which the model has nothing more to say: no calls, and not merely paused. */
export function isFinalAnswer({ entry }: Numbered): boolean {
  return entry.kind === "assistant" && callsOf(entry).length === 0 && entry.stop !== "paused";
}

/** The newest answer with calls, if its results were not stored yet. */
export function openBatch(effective: readonly Numbered[]): Numbered<AssistantEntry> | null {
  const answered = new Set(effective.flatMap(({ entry }) => (entry.kind === "results" ? [entry.of] : [])));
  for (let index = effective.length - 1; index >= 0; index--) {
    const { seq, entry } = effective[index] ?? {};
    if (seq === undefined || entry?.kind !== "assistant" || callsOf(entry).length === 0) continue;
    return answered.has(seq) ? null : { seq, entry };
  }
  return null;
}

/**
 * What of an effective context requests are made of: a pause and its answer are part of the conversation, but what the
 * model gets of them is the results that follow.
 */
export function sentContext(effective: readonly Numbered[]): Numbered[] {
  return effective.filter(({ entry }) => entry.kind !== "pause" && entry.kind !== "pause_answer");
}

function isEffective(entry: Entry): boolean {
  if (entry.kind === "rewind" || entry.kind === "mode_change") return false;
  return entry.kind !== "assistant" || isMessage(entry);
}

/** Whether an answer is a message: of one that was cut before it said or called anything, nothing is sent. */
export function isMessage({ blocks }: Pick<AssistantEntry, "blocks">): boolean {
  return blocks.some((block) => {
    if (block.type === "text") return block.text.trim() !== "";
    return block.type !== "thinking";
  });
}

/** Entries whose order or survival hangs on another entry. */
export function anchorOf(entry: Entry): { at: "before" | "results" | "attach" | "after"; seq: number } | null {
  if (entry.kind === "host_search") return entry.place;
  if (entry.kind === "compaction" && entry.before !== undefined) return { at: "before", seq: entry.before };
  if (entry.kind === "results" || entry.kind === "pause") return { at: "results", seq: entry.of };
  if (entry.kind === "pause_answer") return { at: "after", seq: entry.of };
  return null;
}

/** All entries, cut or not, each at its place. What hangs on an entry that is not there keeps its own place. */
function inOrder(all: readonly Numbered[]): Numbered[] {
  const known = new Set(all.map(({ seq }) => seq));
  const hanging = new Map<string, Numbered[]>();
  const roots: Numbered[] = [];
  for (const numbered of all) {
    const anchor = anchorOf(numbered.entry);
    if (anchor === null || !known.has(anchor.seq) || anchor.seq >= numbered.seq) {
      roots.push(numbered);
      continue;
    }
    const key = `${anchor.at} ${anchor.seq}`;
    const siblings = hanging.get(key);
    if (siblings) siblings.push(numbered);
    else hanging.set(key, [numbered]);
  }
  const ordered: Numbered[] = [];
  const place = (numbered: Numbered): void => {
    const at = (where: string) => {
      for (const other of hanging.get(`${where} ${numbered.seq}`) ?? []) place(other);
    };
    at("before");
    ordered.push(numbered);
    at("results");
    at("attach");
    at("after");
  };
  for (const root of roots) place(root);
  return ordered;
}

/**
 * What the rewinds took back. A rewind cuts by place: what hangs on an entry goes with it, and what stands right before
 * an entry stays when the cut starts exactly there (so it stands half a step before it).
 */
function cutByRewinds(all: readonly Numbered[]): Set<number> {
  const places = new Map<number, number>();
  for (const { seq, entry } of all) {
    const anchor = anchorOf(entry);
    const of = anchor === null ? undefined : places.get(anchor.seq);
    // What stood before an entry that is left out by now still stands there: a later rewind may start there again.
    if (anchor?.at === "before" && anchor.seq < seq) places.set(seq, (of ?? anchor.seq) - 0.5);
    else places.set(seq, of ?? seq);
  }
  const cut = new Set<number>();
  // The lowest place that any later rewind goes back to.
  let lowest = Number.POSITIVE_INFINITY;
  for (const { seq, entry } of all.toReversed()) {
    if ((places.get(seq) ?? seq) >= lowest) cut.add(seq);
    if (entry.kind === "rewind") lowest = Math.min(lowest, entry.to);
  }
  return cut;
}
