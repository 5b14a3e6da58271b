/**
 * Entries: the immutable things a session is made of. An entry is made once, as JSON text, and that text is what is
 * stored, sent over RPC and rendered from, so that a turn that holds it in memory and one that read it back see the
 * same bytes. `docs/storage.md` names where they are kept.
 */

import type { Pause, PauseAnswer } from "./pause.ts";
import type { UsageSum } from "./usage.ts";

/** `runtime`: made by us. `client`: brought by a caller; never evidence, never a load point. */
export type Origin = "runtime" | "client";

/** Where the bytes of an image or document are: kept by us under their SHA-256, or at an https URL we do not fetch. */
export type Source =
  | { readonly type: "blob"; readonly hash: string; readonly media: string }
  | { readonly type: "url"; readonly url: string };

export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly source: Source }
  | { readonly type: "document"; readonly source: Source; readonly name?: string };

/**
 * One block of a model's answer. A call's `input` is the JSON text exactly as the model sent it (it may be invalid).
 * `raw` is the provider's own form of a block, where more is in it than we know of.
 */
export type Block =
  | { readonly type: "text"; readonly text: string; readonly raw?: string }
  | { readonly type: "thinking"; readonly text: string; readonly raw: string }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly input: string; readonly raw?: string }
  | { readonly type: "opaque"; readonly raw: string };

export type CallBlock = Extract<Block, { type: "call" }>;

/** Why a model's answer, or a turn, ended. `paused`: the provider paused, or the turn waits for its owner. `stopped`: cancelled by the caller; `cut`: the connection or the provider broke off. */
export type Stop = "end" | "calls" | "length" | "refusal" | "paused" | "stopped" | "cut";

/** Only `ok` is a success. `missing` is a placeholder made by repair and is never stored as evidence. */
export type Status = "ok" | "error" | "denied" | "interrupted" | "missing";

/** What the search tool found, as structure: every lazy tool it resolved, those that were active already included. */
export interface SearchDetails {
  readonly addedToolNames: readonly string[];
}

export interface ToolResult {
  readonly call: string;
  readonly name: string;
  readonly status: Status;
  readonly content: readonly Part[];
  readonly details?: SearchDetails;
  /** The sub-session that worked on it. */
  readonly session?: { readonly agent: string; readonly conversation: string };
  /** What that one used, which counts for the limits of the turn. */
  readonly used?: UsageSum;
}

/** Where a host search stands in the history, wherever the history is cut: never its sequence number. */
export type Place =
  /** The last call of that assistant entry; its result follows the batch's results or opens the next user message. */
  | { readonly at: "attach"; readonly seq: number }
  /** A pair of its own right before that entry. */
  | { readonly at: "before"; readonly seq: number }
  /** A pair of its own right after that entry, which was the last one. */
  | { readonly at: "after"; readonly seq: number };

interface Made {
  readonly v: 1;
  readonly origin: Origin;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Id of the turn that made it. */
  readonly turn: string;
}

/** What a user said. Of origin `runtime`: what the runtime told the model in a user's place, such as an approved plan. */
export interface UserEntry extends Made {
  readonly kind: "user";
  readonly content: readonly Part[];
}

export interface AssistantEntry extends Made {
  readonly kind: "assistant";
  /** `provider/model`; empty for one that a client brought. */
  readonly model: string;
  /** The chain and epoch its thinking belongs to (design §1). */
  readonly chain: string;
  readonly epoch: number;
  readonly blocks: readonly Block[];
  readonly stop: Stop;
}

/** All results of one batch, in the order of the calls. `of` is the sequence number of the assistant entry. */
export interface ResultsEntry extends Made {
  readonly kind: "results";
  readonly of: number;
  readonly results: readonly ToolResult[];
}

/** A search the runtime made to get a load point that no sent byte depends on (design §3.2). */
export interface HostSearchEntry extends Made {
  readonly kind: "host_search";
  readonly call: string;
  readonly names: readonly string[];
  readonly place: Place;
}

/** From here on the entries from `to` up to this one are no longer effective (regenerate, edited history). */
export interface RewindEntry extends Made {
  readonly kind: "rewind";
  readonly to: number;
  /** `refused`: the provider refused what was sent from there on, and another message came. */
  readonly why: "regenerate" | "edited" | "refused";
}

/** Instructions that changed after they were frozen: appended, so that no sent byte moves. */
export interface SystemUpdateEntry extends Made {
  readonly kind: "system_update";
  readonly text: string;
  /** Says nothing itself: the runtime's updates before it are no longer in force. */
  readonly withdraws?: true;
}

/**
 * The turn ended with calls that wait for their owner. `of` is the sequence number of the assistant entry, `results` are
 * those of its calls that do not wait; they become part of the results entry that the answers complete. Never sent.
 */
export interface PauseEntry extends Made {
  readonly kind: "pause";
  readonly of: number;
  readonly results: readonly ToolResult[];
  readonly pauses: readonly Pause[];
}

/** An owner's answer to a pause. `of` is the sequence number of the pause entry, `pause` the id in it. Never sent. */
export interface PauseAnswerEntry extends Made {
  readonly kind: "pause_answer";
  readonly of: number;
  readonly pause: string;
  readonly answer: PauseAnswer;
}

/** From here on the session is in another mode. Origin `client`: its owner changed it. Never sent. */
export interface ModeChangeEntry extends Made {
  readonly kind: "mode_change";
  readonly mode: string;
}

/**
 * From here on `summary` stands for what came before, except for the entries in `kept`, which follow it. Nothing is
 * deleted: a rewind to an entry that the summary may speak of takes the compaction back.
 */
export interface CompactionEntry extends Made {
  readonly kind: "compaction";
  readonly summary: string;
  /** Sequence numbers of the earlier entries that stay effective, in rising order. */
  readonly kept: readonly number[];
  /**
   * The first entry that the summary knows nothing of: the compaction stands right before it, and a rewind to it or to a
   * later one leaves it in force. Missing where the summary may speak of all that came before.
   */
  readonly before?: number;
  /** The client's system text that was in force, where an update had brought it. */
  readonly system?: string;
  /** Lazy tools that had succeeded in the turn that was running and lost their evidence: they count as evidence here. */
  readonly carriedToolNames: readonly string[];
  /** `threshold`: the last call used most of the model's window. `too_long`: the provider refused the request for its length. */
  readonly why: "threshold" | "too_long" | "asked" | "provider";
  /**
   * The block that the provider itself made, as JSON text; replayed to it and to no other, or where only the model can
   * read it that made it, to that one (`model`) alone. For all others `summary` says what it says.
   */
  readonly block?: { readonly provider: string; readonly model?: string; readonly raw: string };
}

export type Entry =
  | UserEntry
  | AssistantEntry
  | ResultsEntry
  | HostSearchEntry
  | RewindEntry
  | SystemUpdateEntry
  | PauseEntry
  | PauseAnswerEntry
  | ModeChangeEntry
  | CompactionEntry;

/** An entry with its place in the session. Sequence numbers rise from 1, without gaps but where a fork left entries out. */
export interface Numbered<E extends Entry = Entry> {
  readonly seq: number;
  readonly entry: E;
}

/** The text an entry is stored as. Lone surrogates come out as escapes, so the text survives UTF-8. */
export function encodeEntry(entry: Entry): string {
  return JSON.stringify(entry);
}

/** Reads back what {@link encodeEntry} wrote. Throws when the text is of a version this code does not know. */
export function decodeEntry(text: string): Entry {
  const entry: Entry = JSON.parse(text);
  if (entry.v !== 1) throw new Error(`entry version ${String(entry.v)} is not known to this release`);
  return entry;
}
