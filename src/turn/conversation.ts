import { collectEvidence, type Evidence, mergeEvidence } from "../catalog/activation.ts";
import { effectiveContext, isMessage } from "../context/effective.ts";
import { lastSuccess, type Success, successIn } from "../context/success.ts";
import type { Fingerprint } from "../prefix/ledger.ts";
import type { Definition, Item, Prefix } from "../providers/contract.ts";
import type { AppendRequest, CallRecord, ChainState, EntryRow, TurnStart } from "../session/contract.ts";
import { type CompactionEntry, decodeEntry, type Entry, encodeEntry, type Numbered } from "../values/entry.ts";
import { ToolDeferrals } from "../values/tool-deferrals.ts";
import type { Cause, Verdict } from "../values/turn-event.ts";
import { inputTokens, type Usage } from "../values/usage.ts";

/** What of a request matters once it was answered; see `prepare.ts`. */
type Prepared = {
  readonly end: number | null;
  readonly tail: readonly Item[];
  readonly fingerprint: Fingerprint;
};

/** What of an answer matters to the next request; see `answer.ts`. */
type Answered = { readonly message: string | null; readonly usage: Usage };

/** Instructions as frozen, and the agent's revision they were asked for. */
export interface Instructions {
  readonly text: string;
  readonly revision: number;
}

/** The epoch that the next request would extend, as frozen bytes. */
export interface Chain {
  readonly epoch: number;
  /** The verdict of the epoch's first request. */
  readonly verdict: Verdict;
  readonly revision: number;
  readonly prefix: Prefix;
  readonly deferred: readonly Definition[];
  readonly items: readonly Item[];
  readonly anchor: number | null;
  readonly last: Fingerprint | null;
  /** A rewind cut items off: the next request starts an epoch on what is left. */
  readonly cut: boolean;
}

/**
 * What a turn knows of its session: what `begin` answered, and what the turn itself has added since. Entries that were
 * made here but not yet acknowledged are in `unsaved`.
 */
export class Conversation {
  readonly turn: string;
  readonly mode: string;
  readonly chainKey: string;
  readonly deferrals: ToolDeferrals;
  readonly blobs = new Map<string, string>();
  chain: Chain | null;
  nextEpoch: number;
  broken: Cause | null;
  instructions: Instructions | null;
  clientSystem: string | null;
  /** Effective entries that no item stands for, in effective order. */
  unsent: Numbered[];
  unsaved: { readonly seq: number; readonly text: string }[] = [];
  evidence: Evidence[];
  lastSuccess: Success | null;
  newestAssistant: number | null;
  sentThrough: number;
  readonly sentWire: string;
  lastSeq: number;
  /** The provider's id of the chain's last answer. */
  message: string | null;
  /** Tokens that the last model call took and gave; null where that says nothing of the context as it is now. */
  used: number | null;
  /** What a compaction changed and the session has not been told yet. */
  owed: Pick<AppendRequest, "ends" | "call"> = {};

  constructor(start: TurnStart, chainKey: string, session: string) {
    this.turn = start.turn;
    this.mode = start.mode;
    this.chainKey = chainKey;
    this.deferrals = ToolDeferrals.parse(start.deferrals, session);
    this.chain = start.chain === null ? null : readChain(start.chain);
    this.nextEpoch = start.nextEpoch;
    this.broken = start.broken;
    this.instructions = start.instructions === null ? null : JSON.parse(start.instructions);
    this.clientSystem = start.clientSystem;
    this.unsent = start.entries.map(readRow);
    this.evidence = [...start.evidence];
    this.lastSuccess = start.lastSuccess;
    this.newestAssistant = start.newestAssistant;
    this.sentThrough = start.sentThrough;
    this.sentWire = start.sentWire;
    this.lastSeq = start.lastSeq;
    this.message = start.message ?? null;
    this.used = start.used ?? null;
    for (const blob of start.blobs) this.blobs.set(blob.hash, blob.base64);
  }

  /** Adds an entry at the end of the history, or at its place if it is a host search. Returns its sequence number. */
  add(entry: Entry): number {
    const seq = this.lastSeq + 1;
    this.lastSeq = seq;
    const text = encodeEntry(entry);
    this.unsaved.push({ seq, text });
    const numbered: Numbered = { seq, entry: decodeEntry(text) };
    this.evidence = mergeEvidence(this.evidence, collectEvidence([numbered]));
    this.lastSuccess = successIn(numbered) ?? this.lastSuccess;
    if (entry.kind === "assistant" && isMessage(entry)) this.newestAssistant = seq;
    this.unsent = inPlace([...this.unsent, numbered]);
    return seq;
  }

  /** A request goes out: what it carried counts as sent, whether or not an answer comes. */
  sent(chain: Chain): void {
    this.chain = chain;
    this.nextEpoch = chain.epoch + 1;
    this.broken = null;
    this.unsent = [];
    this.sentThrough = this.lastSeq;
  }

  /**
   * Its answer began: what its end marker wrote can be read from now on. `kept`: the answer is a message, so that what the
   * request ended with stays before it.
   */
  answered({ end, tail, fingerprint }: Prepared, { message, usage }: Answered, kept: boolean): void {
    this.message = message;
    this.used = inputTokens(usage) + usage.output;
    if (this.chain === null) return;
    if (tail.length === 0) this.chain = { ...this.chain, anchor: end };
    else if (kept) {
      this.chain = { ...this.chain, items: [...this.chain.items, ...tail], last: fingerprint, anchor: end };
    }
  }

  /**
   * Adds a compaction, of which `whole` is the context before. All epochs end: the next request renders what is left anew
   * and records a new baseline. `call` is that of the summary, not told to the session yet.
   */
  compact(entry: CompactionEntry, whole: readonly Numbered[], call: CallRecord | null): void {
    const seq = this.add(entry);
    const left = inPlace([...whole, { seq, entry }]);
    this.owed = { ends: "compaction", ...(call === null ? {} : { call }) };
    this.clientSystem = entry.system ?? this.clientSystem;
    this.deferrals.reset();
    this.chain = null;
    this.broken = "compaction";
    this.used = null;
    this.unsent = left;
    this.evidence = collectEvidence(left);
    this.lastSuccess = lastSuccess(left);
    this.newestAssistant = left.findLast((one) => one.entry.kind === "assistant")?.seq ?? null;
  }

  /**
   * A copy to make a request of that is no link of the chain: what is done to it is done to nothing else. With `other` it
   * begins anew, perhaps with another model, in an epoch that no entry is of: it carries no thinking of earlier turns.
   */
  aside(other?: {
    readonly chainKey: string;
    readonly whole: readonly Numbered[];
    readonly cause: Cause;
  }): Conversation {
    const copy: Conversation = Object.create(Conversation.prototype);
    const apart = { deferrals: this.deferrals.clone(), unsaved: [...this.unsaved] };
    if (other === undefined) return Object.assign(copy, this, apart);
    const { chainKey, whole, cause } = other;
    const first = { chain: null, nextEpoch: 0, broken: cause, message: null, chainKey, unsent: [...whole] } as const;
    return Object.assign(copy, this, apart, first);
  }

  /** The entries made since the last append that was acknowledged. */
  unacknowledged(): { firstSeq: number; entries: string[] } {
    const [first] = this.unsaved;
    return { firstSeq: first?.seq ?? this.lastSeq + 1, entries: this.unsaved.map(({ text }) => text) };
  }

  /** The session has them, and what was owed. */
  acknowledged(): void {
    this.unsaved = [];
    this.owed = {};
  }

  /** The whole effective context: what the session holds, and what it has not been told yet. */
  withUnsaved(rows: readonly EntryRow[]): Numbered[] {
    return inPlace([...rows, ...this.unsaved.map(({ seq, text }): EntryRow => [seq, text])].map(readRow));
  }
}

/** Entries as they are sent: in order, with what belongs to another entry at its place. */
function inPlace(entries: readonly Numbered[]): Numbered[] {
  return effectiveContext(entries.toSorted((a, b) => a.seq - b.seq));
}

function readRow([seq, text]: EntryRow): Numbered {
  return { seq, entry: decodeEntry(text) };
}

function readChain(state: ChainState): Chain {
  const prefix: Prefix = JSON.parse(state.prefix);
  return {
    epoch: state.epoch,
    verdict: state.verdict,
    revision: state.revision,
    prefix,
    deferred: state.deferred.map((text): Definition => JSON.parse(text)),
    items: state.items.map((text): Item => JSON.parse(text)),
    anchor: state.anchor,
    last: state.last,
    cut: state.cut,
  };
}
