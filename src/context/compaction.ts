import { type Entry, encodeEntry, type Numbered, type Part } from "../values/entry.ts";

/** What the model is asked for, as the last message of the summary's request. */
export const SUMMARY_REQUEST = [
  "The conversation is about to be shortened: your answer to this message will stand for everything above.",
  "Write a summary from which the work can go on without loss. Say, under headings: what the user wants, in their own",
  "words where it matters; what was decided and why; what was done, with names, numbers, paths and ids exactly as they",
  "are; what tools found; what is still open and what comes next. Leave out what no longer matters.",
  "Answer with the text of the summary alone, at most 1500 words. Call no tool.",
].join(" ");

/** The summary as models read it, in the place of what it stands for. */
export function summaryText(summary: string): string {
  return `<summary>\nThis conversation goes on from an earlier part. Its summary, written by the assistant:\n\n${summary}\n</summary>`;
}

/** What a compaction does to a context. */
export interface CompactionPlan {
  /** Sequence numbers of the entries that stay, in rising order. */
  readonly kept: readonly number[];
  /** Of these, the ones at the very end of the context: the summary need not speak of them. */
  readonly tail: ReadonlySet<number>;
}

/**
 * What belongs together and is kept or left out as one: an answer with its results, a message, a search of ours with
 * either. System updates are part of what the next epoch begins with, and compactions of the next summary.
 */
interface Unit {
  readonly kind: "step" | "user" | "system" | "compaction";
  readonly entries: readonly Numbered[];
  readonly size: number;
}

const BYTES_A_TOKEN = 4;
/** About what a provider counts for an image or a document of a page. */
const MEDIA_TOKENS = 1_500;
/** Of what may be kept, the share that steps may take: the rest is for what the user said before them. */
const STEPS_SHARE = 0.5;

/**
 * Decides what a compaction of an effective, repaired context keeps, within `budget` (tokens, estimated by length): the
 * newest steps, whole, so that no call is cut from its result, and the newest user messages. `asked` is the message that
 * the running turn answers, which stays whatever it takes. Null when nothing would be left out.
 */
export function planCompaction(
  effective: readonly Numbered[],
  { budget, asked }: { readonly budget: number; readonly asked: number | null },
): CompactionPlan | null {
  const units = unitsOf(effective);
  const kept = new Set<Unit>();
  let left = budget;
  let steps = budget * STEPS_SHARE;
  const question = units.find(({ entries }) => entries.some(({ seq }) => seq === asked));
  if (question !== undefined) {
    kept.add(question);
    left -= question.size;
  }
  let at = units.length - 1;
  for (; at >= 0; at -= 1) {
    const unit = units[at];
    if (unit === undefined || unit.kind === "compaction") break;
    if (unit.kind === "system" || kept.has(unit)) continue;
    const step = unit.kind === "step";
    if (unit.size > (step ? Math.min(left, steps) : left)) break;
    kept.add(unit);
    left -= unit.size;
    if (step) steps -= unit.size;
  }
  const tail = units.slice(at + 1);
  for (; at >= 0; at -= 1) {
    const unit = units[at];
    if (unit?.kind !== "user" || kept.has(unit)) continue;
    if (unit.size > left) break;
    kept.add(unit);
    left -= unit.size;
  }
  if (units.every((unit) => kept.has(unit) || unit.kind === "compaction" || unit.kind === "system")) return null;
  const stays = units.filter((unit) => kept.has(unit)).flatMap(({ entries }) => entries);
  return {
    kept: [...new Set(stays.map(({ seq }) => seq))].sort((a, b) => a - b),
    tail: new Set(tail.flatMap(({ entries }) => entries).map(({ seq }) => seq)),
  };
}

/**
 * A context in consecutive parts of about `most` tokens each, none of which cuts a call from its result. What is larger by
 * itself is a part of its own.
 */
export function inParts(effective: readonly Numbered[], most: number): Numbered[][] {
  const parts: Numbered[][] = [];
  let room = 0;
  for (const { entries, size } of unitsOf(effective)) {
    const part = parts.at(-1);
    if (part === undefined || size > room) {
      parts.push([...entries]);
      room = most;
    } else part.push(...entries);
    room -= size;
  }
  return parts;
}

/** About how many tokens an entry takes. */
export function estimateTokens(entry: Entry): number {
  const media = partsOf(entry).filter(({ type }) => type !== "text").length;
  return Math.ceil(Buffer.byteLength(encodeEntry(entry)) / BYTES_A_TOKEN) + media * MEDIA_TOKENS;
}

/** A context's units, in order. */
function unitsOf(effective: readonly Numbered[]): Unit[] {
  const units: { kind: Unit["kind"]; entries: Numbered[] }[] = [];
  let before: Numbered[] = [];
  for (const numbered of effective) {
    const { entry } = numbered;
    const open = units.at(-1);
    if (entry.kind === "host_search" && entry.place.at === "before") before.push(numbered);
    else if (unitKind(entry) === null && open) open.entries.push(numbered);
    else {
      units.push({ kind: unitKind(entry) ?? "step", entries: [...before, numbered] });
      before = [];
    }
  }
  return units.map((unit) => ({
    ...unit,
    size: unit.entries.reduce((sum, { entry }) => sum + estimateTokens(entry), 0),
  }));
}

/** The unit that an entry begins; null for one that belongs to what stands before it. */
function unitKind({ kind }: Entry): Unit["kind"] | null {
  switch (kind) {
    case "user":
    case "compaction":
      return kind;
    case "system_update":
      return "system";
    case "assistant":
      return "step";
    case "results":
    case "host_search":
    case "rewind":
    case "pause":
    case "pause_answer":
    case "mode_change":
      return null;
  }
}

function partsOf(entry: Entry): readonly Part[] {
  if (entry.kind === "user") return entry.content;
  return entry.kind === "results" ? entry.results.flatMap(({ content }) => content) : [];
}
