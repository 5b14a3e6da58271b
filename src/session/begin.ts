import type { Alignment } from "../context/align-history.ts";
import { alignHistory, comparableText, contentText, storedMessages } from "../context/align-history.ts";
import { survives } from "../context/branch.ts";
import { callsOf, effectiveContext, isFinalAnswer, openBatch, uncompacted } from "../context/effective.ts";
import type {
  AssistantEntry,
  Entry,
  Numbered,
  RewindEntry,
  SystemUpdateEntry,
  ToolResult,
  UserEntry,
} from "../values/entry.ts";
import { decodeEntry, encodeEntry } from "../values/entry.ts";
import type { ToolDeferrals } from "../values/tool-deferrals.ts";
import type { BeginRequest } from "./contract.ts";
import { openPauses, pausedAt, settlePause, waitingPause, withoutApproval } from "./pauses.ts";
import { clientUpdate, type FrozenInstructions, instructionsUpdate } from "./system-updates.ts";

/** What the model reads where a call's turn died before its result was stored. */
export const INTERRUPTED = "The call was interrupted. It is not known whether it had any effect.";

/** What a `begin` finds. */
export interface Found {
  /** All entries that may be effective. */
  readonly all: readonly Numbered[];
  /** The number of the newest entry. */
  readonly lastSeq: number;
  readonly deferrals: ToolDeferrals;
  /** The client system text that the session was frozen with. */
  readonly clientSystem: string | null;
  /** Null before the session's first request. */
  readonly instructions: FrozenInstructions | null;
  /** The results that are there of the batch of that answer, which was cut by a hand-over. */
  partial(seq: number): readonly ToolResult[];
  readonly newest: {
    readonly turn: string;
    readonly userSeq: number;
    /** `dead`: its lease ran out before it ended. */
    readonly status: "done" | "failed" | "refused" | "stopped" | "paused" | "dead";
    /** The entry from which on the provider refused what was sent; null where it refused nothing. */
    readonly refusedFrom: number | null;
  };
}

/** What a `begin` does about it. */
export interface Plan {
  /** Goes on with the newest turn, whose isolate died. */
  readonly resumed: boolean;
  /** The turn's next request goes out before anything else is appended, so all there is counts as sent. */
  readonly sends: boolean;
  /** The user entry to answer. */
  readonly userSeq: number;
  /** Texts of the entries to append. */
  readonly append: readonly string[];
  /** A rewind took a load point with it: the deferrals start anew, and all epochs end. */
  readonly reset: boolean;
  /** The mode that an answered pause leads to; null leaves it as it is. */
  readonly mode: string | null;
}

/** Decides how a turn starts on a session that exists. Pure; `now` in milliseconds. */
export function planTurn(found: Found, request: BeginRequest, now: number): Plan {
  const { all, lastSeq, newest } = found;
  const asked = userEntry(request.user);
  const effective = effectiveContext(all);
  // A client knows nothing of compactions: it still has, and may edit, what they left out.
  const known = uncompacted(all);
  const unfinished = isUnfinished(effective, newest);
  const told = unfinished ? upTo(known, newest.userSeq) : known;
  const alignment = withParts(align(told, asked, request, unfinished), asked, known);

  if (newest.status === "dead" && unfinished && isAt(alignment, "rerun", newest.userSeq)) {
    return resumption(effective, newest);
  }

  const head = { v: 1, at: now, turn: request.turn } as const;
  const { made, mode } = closeBatch(effective, found, now);

  const rewound = (rewind: Rewind | null): Entry[] =>
    rewind === null ? made : [...made, { ...head, origin: "runtime", kind: "rewind", ...rewind }];
  const { initial } = found.deferrals;
  const resets = (rewind: Rewind | null) => {
    if (rewind === null || initial === null) return false;
    const left = after(found, rewound(rewind));
    // Behind a compaction some providers number their calls anew, so that a load point may seem to be in what it left out.
    return compactionOf(left) !== compactionOf(effective) || !survives(found.deferrals, left);
  };
  const updatesBehind = (rewind: Rewind | null): SystemUpdateEntry[] => {
    const left = after(found, rewound(rewind));
    const anew = initial === null || resets(rewind);
    return [
      ...instructionsUpdate(found.instructions, left, request.instructions, anew),
      ...clientUpdate(found.clientSystem, left, request.clientSystem),
    ].map((update) => ({ ...head, ...update }));
  };

  let { rewind, userSeq } = place(alignment, effective, newest);
  if (userSeq !== null && !isIn(after(found, rewound(rewind)), userSeq)) {
    // A compaction that stays in force left the question out: told anew it takes the compaction back.
    rewind = { to: userSeq, why: "regenerate" };
    userSeq = null;
  }
  let updates = updatesBehind(rewind);
  if (updates.some(({ withdraws }) => !withdraws) && userSeq !== null && isToldAnew(alignment, effective)) {
    // A system update stands before the message it speaks for, so that message is told anew behind it.
    rewind = { to: userSeq, why: "regenerate" };
    userSeq = null;
    updates = updatesBehind(rewind);
  }
  const append = rewound(rewind).map(encodeEntry);
  // Behind a message that was sent already, nothing can be said before it; what is withdrawn is gone wherever that stands.
  const behind = userSeq === null ? updates : updates.filter(({ withdraws }) => withdraws);
  append.push(...behind.map(encodeEntry));
  if (userSeq === null) {
    append.push(request.user);
    userSeq = lastSeq + append.length;
  }
  const reset = resets(rewind);
  return { resumed: false, sends: true, userSeq, append, reset, mode };
}

/**
 * Decides how the newest turn goes on without a new message: its pauses are all answered, or its isolate died. Null
 * where there is nothing to go on with.
 */
export function planGoingOn(found: Pick<Found, "all" | "newest" | "partial">, now: number): Plan | null {
  const { all, newest } = found;
  const effective = effectiveContext(all);
  if (newest.status === "dead") return isUnfinished(effective, newest) ? resumption(effective, newest) : null;
  const waiting = newest.status === "paused" ? waitingPause(effective) : null;
  if (waiting === null || openPauses(waiting).length > 0) return null;
  const { made, mode } = closeBatch(effective, found, now);
  return { resumed: true, sends: true, userSeq: newest.userSeq, append: made.map(encodeEntry), reset: false, mode };
}

function resumption(effective: readonly Numbered[], { userSeq }: Found["newest"]): Plan {
  return { resumed: true, sends: openBatch(effective) === null, userSeq, append: [], reset: false, mode: null };
}

/**
 * What closes the batch that has no results yet, if there is one: the answers it waited for, or that it was cut. Of a turn
 * that is `stopped` no approved plan is carried out.
 */
export function closeBatch(
  effective: readonly Numbered[],
  { partial }: Pick<Found, "partial">,
  now: number,
  stopped = false,
): { made: Entry[]; mode: string | null } {
  const open = openBatch(effective);
  if (open === null) return { made: [], mode: null };
  const paused = pausedAt(effective, open.seq);
  if (paused === null) return { made: [interruptedResults(open, now, partial(open.seq))], mode: null };
  return settlePause(open, stopped ? withoutApproval(paused) : paused, now);
}

type Rewind = Pick<RewindEntry, "to" | "why">;

/** What the alignment takes back of the history, and the user entry that is answered again; null for a new one. */
function place(
  alignment: Alignment,
  effective: readonly Numbered[],
  newest: Found["newest"],
): { rewind: Rewind | null; userSeq: number | null } {
  // What the provider refused once it refuses again, so the conversation goes on from before it.
  const refused = newest.refusedFrom === null ? null : ({ to: newest.refusedFrom, why: "refused" } as const);
  switch (alignment.kind) {
    case "append":
    case "unrelated":
      return { rewind: refused, userSeq: null };
    case "edited":
      return { rewind: { to: alignment.user, why: "edited" }, userSeq: null };
    case "regenerate":
      return { rewind: { to: alignment.user + 1, why: "regenerate" }, userSeq: alignment.user };
    case "rerun": {
      // What is left of an answer that failed would be taken for the beginning of the new one.
      const last = effective.at(-1);
      const left = last && isFinalAnswer(last) ? ({ to: last.seq, why: "regenerate" } as const) : null;
      const steps = refused !== null && refused.to > alignment.user ? refused : null;
      return { rewind: steps ?? left, userSeq: alignment.user };
    }
  }
}

/** The compaction that a context begins with. */
function compactionOf([first]: readonly Numbered[]): number | null {
  return first?.entry.kind === "compaction" ? first.seq : null;
}

function isIn(effective: readonly Numbered[], seq: number): boolean {
  return effective.some((one) => one.seq === seq);
}

/** Whether the user entry that is answered again may be told anew: no tool work of its turn would be lost with it. */
function isToldAnew(alignment: Alignment, effective: readonly Numbered[]): boolean {
  if (alignment.kind === "regenerate") return true;
  return alignment.kind === "rerun" && effective.at(-1)?.seq === alignment.user;
}

/** The results entry that closes a batch whose turn died: nothing of it is run again. `known`: results that were there. */
function interruptedResults(
  { seq, entry }: Numbered<AssistantEntry>,
  now: number,
  known: readonly ToolResult[],
): Entry {
  return {
    v: 1,
    origin: "runtime",
    at: now,
    turn: entry.turn,
    kind: "results",
    of: seq,
    results: callsOf(entry).map(
      ({ id, name }) =>
        known.find(({ call }) => call === id) ?? {
          call: id,
          name,
          status: "interrupted",
          content: [{ type: "text", text: INTERRUPTED }],
        },
    ),
  };
}

function userEntry(text: string): UserEntry {
  const entry = decodeEntry(text);
  if (entry.kind !== "user") throw new Error(`a turn begins with a user entry, not with one of kind ${entry.kind}`);
  return entry;
}

/** Whether the newest turn still owes its answer. One that died after its last answer was stored does not. */
function isUnfinished(effective: readonly Numbered[], newest: Found["newest"]): boolean {
  if (newest.status === "failed" || newest.status === "refused") return true;
  if (newest.status !== "dead") return false;
  const last = effective.at(-1);
  return !(last && isFinalAnswer(last) && last.entry.turn === newest.turn);
}

/** The context up to a user entry: whatever followed it counts as no answer. */
function upTo(effective: readonly Numbered[], userSeq: number): readonly Numbered[] {
  const at = effective.findIndex(({ seq }) => seq === userSeq);
  return at < 0 ? effective : effective.slice(0, at + 1);
}

function align(told: readonly Numbered[], asked: UserEntry, { sent }: BeginRequest, unfinished: boolean): Alignment {
  if (sent !== null) return alignHistory(storedMessages(told), sent);
  if (!unfinished) return { kind: "append" };
  const newest = storedMessages(told).at(-1);
  const again = newest?.role === "user" && newest.text === comparableText("user", contentText(asked.content));
  return again ? { kind: "rerun", user: newest.seq } : { kind: "append" };
}

/** Messages are compared by their text; one with another image or document is another message after all. */
function withParts(alignment: Alignment, asked: UserEntry, known: readonly Numbered[]): Alignment {
  if (alignment.kind !== "rerun" && alignment.kind !== "regenerate") return alignment;
  const ours = known.find(({ seq }) => seq === alignment.user)?.entry;
  if (ours?.kind === "user" && partsKey(ours) === partsKey(asked)) return alignment;
  return alignment.kind === "rerun" ? { kind: "append" } : { kind: "edited", user: alignment.user };
}

function partsKey(entry: UserEntry): string {
  return JSON.stringify(entry.content.filter((part) => part.type !== "text"));
}

function isAt(alignment: Alignment, kind: "rerun", user: number): boolean {
  return alignment.kind === kind && alignment.user === user;
}

/** The effective context once `made` is appended. */
function after({ all, lastSeq }: Found, made: readonly Entry[]): Numbered[] {
  return effectiveContext([...all, ...made.map((entry, index) => ({ seq: lastSeq + index + 1, entry }))]);
}
