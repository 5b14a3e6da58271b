/**
 * What a turn and its session object say to each other. Both sides may run different code for some minutes after a
 * deploy, so every request carries `v`, and fields are only ever added.
 */

import type { Evidence } from "../catalog/activation.ts";
import type { SentMessage } from "../context/align-history.ts";
import type { Marks, PrefixMarks } from "../prefix/marks.ts";
import type { Diagnosis } from "../values/diagnosis.ts";
import type { Stop, ToolResult } from "../values/entry.ts";
import type { Failure } from "../values/errors.ts";
import type { Pause, PauseAnswer } from "../values/pause.ts";
import type { TaskRecord } from "../values/task.ts";
import type { Cause, TurnEvent, Verdict } from "../values/turn-event.ts";
import type { Usage, UsageSum } from "../values/usage.ts";
import type { Branch, BranchAnswer } from "./branch.ts";
import type { Push, PushKept } from "./pushes.ts";
import type { GivenInstructions } from "./system-updates.ts";
import type { TaskMark } from "./task-list.ts";

/** Names one session. Another owner's conversation id is simply one's own, other, session. */
export interface SessionId {
  readonly owner: string;
  readonly agent: string;
  readonly conversation: string;
}

/** An entry as it crosses RPC: its sequence number and its text, made once. */
export type EntryRow = readonly [seq: number, text: string];

export interface BlobRow {
  readonly hash: string;
  readonly media: string;
  readonly base64: string;
}

export interface BeginRequest {
  readonly v: 1;
  readonly id: SessionId;
  /** The conversation id was minted for this request, so there is nothing to look up in D1. */
  readonly minted: boolean;
  /** Id of the turn, used unless an earlier one is resumed. */
  readonly turn: string;
  readonly leaseSeconds: number;
  readonly busy: "wait" | "interrupt" | "reject";
  /** The model and its renderer's version: `anthropic/claude-sonnet-5 anthropic/1`. */
  readonly wire: string;
  /** The chain the first request would join: `model`, or `model#mode` where `perMode`. */
  readonly chain: { readonly model: string; readonly perMode: boolean };
  /** Text of the user entry to append. */
  readonly user: string;
  readonly blobs: readonly BlobRow[];
  /** All messages the client sent, the new user message last; null where a surface only appends. */
  readonly sent: readonly SentMessage[] | null;
  /** Texts of the entries (origin client) that a session which does not exist yet starts from. */
  readonly seed: readonly string[];
  /** System text the client sent, joined; null where there is none or the agent ignores it. */
  readonly clientSystem: string | null;
  /** How long the session is kept while nobody uses it, in milliseconds; absent is for good. */
  readonly keepMs?: number;
  /** The agent's instructions as they are now, to be compared with those in force. Absent from older workers. */
  readonly instructions?: GivenInstructions;
  /** Names of tools whose unanswered calls may run again. */
  readonly rerun: readonly string[];
  /** There are models to fall back on, so it matters which of them rest. */
  readonly fallback?: boolean;
  /** Name of the session above, for a sub-session that may not exist yet. */
  readonly parent?: string;
  /** The turn was let in under quotas (`admission.ts`): its end is to be noted in D1. */
  readonly admitted?: boolean;
  /**
   * Goes on with the newest turn: one whose pauses are all answered, or one whose isolate died. `user` and what a client
   * sends along count for nothing. There may be nothing to go on with: `settled`.
   */
  readonly goOn?: true;
  /** Who asks and how, as text: another isolate that goes on with the turn gets it back as it is. */
  readonly asked?: string;
  /** What tells a repeat of this request from another one. */
  readonly once?: Once;
  /** The turn is a task: its caller's message, as JSON text in the surface's own form. */
  readonly task?: string;
}

/** How a client's repeat of a request is known (design §3.6). */
export interface Once {
  /** Its `Idempotency-Key`, or null. */
  readonly key: string | null;
  /** SHA-256 of what it sent. */
  readonly body: string;
  /** The client's SDK says that it sends this body again. */
  readonly repeated: boolean;
}

/** As much of a `begin` as tells whether it asks again for a turn that is there. */
export type RepeatRequest = Pick<BeginRequest, "v" | "id" | "minted" | "turn" | "once">;

/** What an isolate says that goes on with a turn the session has given out. */
export interface ResumeRequest extends Pick<BeginRequest, "v" | "wire" | "chain" | "rerun" | "fallback"> {
  readonly turn: string;
  /** The fence it was given out with: whoever comes first with it gets the turn. */
  readonly fence: number;
  /** Id of this attempt, so that its repeat is known. */
  readonly attempt: string;
}

export type ResumeAnswer = TurnStart | { readonly kind: "lost" };

/** What the session knows of the chain that was asked for. */
export interface ChainState {
  readonly key: string;
  readonly epoch: number;
  /** What the ledger says of the epoch's first request, for as long as none is recorded. */
  readonly verdict: Verdict;
  readonly revision: number;
  /** JSON of the frozen prefix, as given in {@link ChainOpening}. */
  readonly prefix: string;
  /** JSON texts of the deferred definitions, in order. */
  readonly deferred: readonly string[];
  /** JSON texts of the items sent in this epoch that are still effective, in order. */
  readonly items: readonly string[];
  /** A rewind cut some of the items that were sent: the next request starts an epoch on those that are left. */
  readonly cut: boolean;
  /** Where the end marker of the last answered request within `items` stood. */
  readonly anchor: number | null;
  /** Running hash and number of segments of the last answered request, for the ledger; null after a cut. */
  readonly last: { readonly hash: string; readonly segments: number } | null;
}

/**
 * Calls of an answer whose turn died before it stored their results. One results entry closes the whole batch, in the
 * order of the calls: `calls` are run again, `interrupted` get that status.
 */
export interface PendingBatch {
  readonly seq: number;
  readonly calls: readonly string[];
  readonly interrupted: readonly string[];
  /** Results of the batch that were there when the turn was handed over: their calls are in neither list. */
  readonly results?: readonly ToolResult[];
}

/** The lists of an answer that may be large: they cross RPC in pages, which `session/client.ts` puts together. */
export interface Page {
  readonly deferred: readonly string[];
  readonly items: readonly string[];
  readonly entries: readonly EntryRow[];
  readonly blobs: readonly BlobRow[];
}

export interface TurnStart {
  readonly kind: "go";
  readonly fence: number;
  readonly turn: string;
  /** The turn had begun in another isolate: go on, do not start over. */
  readonly resumed: boolean;
  readonly mode: string;
  /** Sequence number of the user entry this turn answers. */
  readonly userSeq: number;
  readonly lastSeq: number;
  readonly deferrals: string | null;
  /** What had been sent before this attempt: entries above it may still change their rendering. */
  readonly sentThrough: number;
  /** The renderer of the turn before: what entries that were sent without leaving their bytes looked like. */
  readonly sentWire: string;
  /** Frozen instructions and client system text, from the first model call on. */
  readonly instructions: string | null;
  readonly clientSystem: string | null;
  /** The chain asked for, if it has an epoch that may go on; otherwise null, and `entries` is the whole context. */
  readonly chain: ChainState | null;
  /** Epoch number the chain's next epoch takes. */
  readonly nextEpoch: number;
  /** The provider's id of the chain's last answer; null before there is one. */
  readonly message?: string | null;
  /** Tokens that the last model call took and gave, where they say how much of the window the context fills; else null. */
  readonly used?: number | null;
  /** Why the next request can't extend the last: what ended the epoch, or that another chain came before. */
  readonly broken: Cause | null;
  /** Effective entries that no item of the chain stands for yet, in effective order. */
  readonly entries: readonly EntryRow[];
  /** Evidence of the whole effective context, by first appearance. */
  readonly evidence: readonly Evidence[];
  /** The last tool call of the effective context that succeeded, and the entry its result is in. */
  readonly lastSuccess: { readonly call: string; readonly seq: number } | null;
  /** Newest effective assistant entry; decides where a host search goes. */
  readonly newestAssistant: number | null;
  /** Resumed: the batch whose results are still to be stored, or null. */
  readonly pending: PendingBatch | null;
  /** Model calls of this turn whose answers are stored: 0 at its start. Results of a pending batch belong to it. */
  readonly step: number;
  /** Where that was asked: models that their providers want left alone, and until when in milliseconds; some may be over. */
  readonly resting?: readonly { readonly model: string; readonly until: number }[];
  /** When the turn began, in milliseconds since the epoch. */
  readonly began?: number;
  /** What the model calls of this turn came to that earlier attempts made, those of its sub-sessions included; absent at its start. */
  readonly spent?: Usage;
  /** How many model calls its sub-sessions made, as far as their results are stored; absent at its start. */
  readonly handedOver?: number;
  /** Blobs the context refers to. */
  readonly blobs: readonly BlobRow[];
  /** Pages that follow this answer; none in what `session/client.ts` hands on. */
  readonly more?: number;
  /** {@link BeginRequest.asked} of the request that began the turn. */
  readonly asked?: string;
  /** As a beat's `attach`. */
  readonly attach?: true;
}

/** The effective context on its own. `more` as in {@link TurnStart}. */
export interface SessionContext {
  readonly entries: readonly EntryRow[];
  readonly blobs: readonly BlobRow[];
  readonly more?: number;
}

export type BeginAnswer =
  | TurnStart
  /** Another turn holds the session; seconds until its lease runs out. */
  | { readonly kind: "busy"; readonly retryAfter: number }
  /** {@link BeginRequest.goOn} was asked, and there is nothing to go on with, or another isolate does it. */
  | { readonly kind: "settled" }
  /** The session was deleted. */
  | { readonly kind: "gone" }
  /** The request is a repeat: its turn runs or is over already, and is there to be followed. */
  | { readonly kind: "joined"; readonly turn: string }
  /** Its `Idempotency-Key` came with another body before. */
  | { readonly kind: "key_reused" }
  /** The object is empty and D1 can't be asked whether the session existed. */
  | { readonly kind: "unavailable" };

export type RepeatAnswer = Extract<BeginAnswer, { kind: "joined" | "key_reused" }>;

/** The first request of an epoch. */
export interface ChainOpening {
  /** What the ledger says of the epoch's first request. */
  readonly verdict: Verdict;
  readonly revision: number;
  readonly prefix: string;
  /**
   * The epoch goes on from the first `items` items of that epoch of the same chain (a cut), and {@link ChainWrite} holds
   * the items after them; its deferred definitions are given whole. Null: from nothing.
   */
  readonly base: { readonly epoch: number; readonly items: number } | null;
  readonly marks?: PrefixMarks;
}

/** New bytes of one request. */
export interface ChainWrite {
  readonly key: string;
  readonly epoch: number;
  readonly open: ChainOpening | null;
  readonly deferred: readonly string[];
  readonly items: readonly string[];
  /** Marks of these deferred definitions and items, one each. */
  readonly marks?: Pick<Marks, "deferred" | "items">;
}

/** One model call, as the ledger keeps it. Hashes, sizes and causes only: never a tool's name or a load point. */
export interface CallRecord {
  readonly turn: string;
  readonly step: number;
  readonly at: number;
  readonly model: string;
  readonly chain: string;
  readonly epoch: number;
  readonly verdict: Verdict;
  /** Where the bytes differ from the last request's, when the verdict is `unexpected`. */
  readonly place: string | null;
  readonly hash: string;
  readonly segments: number;
  readonly deferredHash: string;
  readonly bytes: number;
  /** Item that carried the end marker. */
  readonly end: number | null;
  readonly answered: boolean;
  readonly usage: Usage;
  /** How many items, inline tools and deferred tools the request had. */
  readonly items?: number;
  readonly tools?: number;
  readonly deferred?: number;
  /** The provider's id of the answer, which the chain's next request is compared with. Not shown. */
  readonly message?: string;
  /** Copied from the session that this one was cloned or forked from, and no call of its own. */
  readonly copied?: true;
  /** Nothing began, and the provider asked to leave the model alone until then: milliseconds since the epoch. */
  readonly retryAt?: number;
  /** What the provider said of its cache; absent where it was not asked or did not answer. */
  readonly provider?: Diagnosis;
  /** `summary`: asked for a compaction. Such a call is no link of its chain: the next one goes on from the one before. */
  readonly purpose?: "summary";
}

export interface AppendRequest {
  readonly v: 1;
  readonly fence: number;
  readonly turn: string;
  readonly step: number;
  /**
   * `before`: deferrals that changed outside of `results`. `call`: a model call that led to no entry. `handover`: another
   * isolate is to go on from here. `finish` ends the turn. A repeat of one changes nothing.
   */
  readonly kind: "before" | "answer" | "results" | "call" | "handover" | "finish";
  /** Tells appends of one kind and step apart where there are several; absent is 0. */
  readonly n?: number;
  /** Sequence number the first of `entries` takes. */
  readonly firstSeq: number;
  readonly entries: readonly string[];
  readonly blobs?: readonly BlobRow[];
  readonly sentThrough?: number;
  /** The mode that the session is in from here on. The turn reads what it goes on from by {@link SessionApi.reread}. */
  readonly mode?: string;
  /** JSON of the deferrals; given only when they changed. */
  readonly deferrals?: string;
  /** JSON of the frozen instructions; given when they were asked. */
  readonly instructions?: string;
  /** Why all epochs end with this append, whose own chain write opens a new one. */
  readonly ends?: Cause;
  readonly chain?: ChainWrite;
  readonly call?: CallRecord;
  readonly end?: TurnEnd &
    (
      | { readonly status: "done" | "failed" | "stopped" }
      /** The turn waits for its owner; `entries` end with the pause. */
      | { readonly status: "paused" }
      /** The provider refuses what is sent from that entry on, and would again. */
      | { readonly status: "refused"; readonly from: number }
    );
  /** `handover`: what the turn has told so far, and those results of the open batch that are there. */
  readonly told?: Told;
  readonly partial?: { readonly of: number; readonly results: readonly ToolResult[] };
}

/** How a turn ended, for whoever asks later. */
export interface TurnEnd {
  readonly stop?: Stop;
  readonly detail?: string;
  readonly failure?: Failure;
  /** It was stopped since whoever asked was gone, not because anybody wished so. */
  readonly left?: true;
}

/** Events of a running turn. `log` names the list they are numbered in; `after` is the number of the one before them. */
export interface Told {
  readonly log: string;
  readonly after: number;
  readonly events: readonly TurnEvent[];
}

/** Which events a reader wants. */
export interface FollowRequest {
  readonly v: 1;
  /** Null for the newest turn. */
  readonly turn: string | null;
  /** The list the reader's last event was numbered in, and its number; null and 0 from the beginning. */
  readonly log: string | null;
  readonly after: number;
  /** How long to wait for an event if there is none. */
  readonly waitMs: number;
}

/** Events of a turn from where its reader was, perhaps none yet. */
export interface FollowAnswer {
  readonly turn: string;
  readonly log: string;
  readonly events: readonly TurnEvent[];
  /** The last of them is the turn's end, or there is nothing after what the reader has. */
  readonly ended: boolean;
}

/** Asks for what a turn would start from, where none runs. */
export interface SnapshotRequest extends Pick<BeginRequest, "chain"> {
  readonly v: 1;
}

export type SnapshotAnswer =
  | Extract<BeginAnswer, { kind: "go" | "busy" }>
  /** The newest turn waits for its owner's answer. */
  | { readonly kind: "paused" };

/** A compaction that was made while no turn ran, of the session as a snapshot showed it. */
export interface CompactRequest {
  readonly v: 1;
  /** The snapshot's. */
  readonly fence: number;
  readonly lastSeq: number;
  /** Id of this compaction. */
  readonly turn: string;
  /** Text of its entry; null where it failed and only its calls are to be kept. */
  readonly entry: string | null;
  readonly calls: readonly CallRecord[];
}

export type AppendAnswer =
  /** `attach`: as a beat's. */
  | { readonly kind: "ok"; readonly lastSeq: number; readonly attach?: true }
  /** The fence is stale: another isolate has the session. */
  | { readonly kind: "lost" };

/** What is taken of a session, and what for: a fork takes the next title that is free, an export its own. */
export interface BranchRequest {
  readonly v: 1;
  /** The user message before which the branch ends, from 0; null for all there is. */
  readonly at: number | null;
  readonly of: "fork" | "export";
}

/** `attach`: somebody follows the turn, so its events are to be handed to the session. */
export type BeatAnswer = "go" | "cancel" | "lost" | "attach";

/** `resend`: the session has not what came before these events. */
export type TellAnswer = "ok" | "resend" | "lost";

/** What an owner changes of a session by hand. */
export interface PatchRequest {
  readonly v: 1;
  readonly mode?: string;
  readonly title?: string;
}

export type PatchOutcome =
  | { readonly kind: "ok"; readonly summary: SessionSummary }
  /** The mode stays while a turn runs; seconds until its lease runs out. */
  | { readonly kind: "busy"; readonly retryAfter: number };

export interface SessionSummary {
  readonly conversation: string;
  readonly agent: string;
  readonly title: string;
  readonly mode: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly entries: number;
  /** How the newest turn stands. */
  readonly status: "running" | "done" | "failed" | "refused" | "stopped" | "paused";
  readonly running: boolean;
  /** What its model calls came to so far. */
  readonly usage?: UsageSum;
  /** The session it was cloned or forked from. `at`: before which of its user messages, from 0; null for a clone. */
  readonly forkedFrom: { readonly id: string; readonly at: number | null } | null;
}

/** What became of an answer to a pause. */
export type AnswerOutcome =
  /** It is stored. `goesOn`: no pause is open any more, so the turn can go on. */
  | { readonly kind: "answered"; readonly goesOn: boolean }
  /** There is no such pause, or it was taken back. */
  | { readonly kind: "unknown" }
  /** The pause is of another kind than the answer. */
  | { readonly kind: "mismatch"; readonly asks: Pause["kind"] }
  /** It was answered otherwise, or closed by a stop or a message. */
  | { readonly kind: "closed"; readonly by: "answer" | "message" }
  /** It would have been stored, and was not to be. */
  | { readonly kind: "not_taken" };

/**
 * A session, as turns and surfaces hold it (`session/client.ts`). One that does not exist reads as null and stores
 * nothing. Reading throws `unavailable` when the session's object is empty and D1 can't be asked.
 */
export interface SessionApi {
  begin(request: BeginRequest): Promise<BeginAnswer>;
  /** What `begin` would answer a repeat, and null what is none. Begins nothing. */
  repeat(request: RepeatRequest): Promise<RepeatAnswer | null>;
  append(request: AppendRequest): Promise<AppendAnswer>;
  beat(fence: number): Promise<BeatAnswer>;
  /** Takes a turn that was given out with that fence; `lost` for every other, and for who comes second. */
  resume(request: ResumeRequest): Promise<ResumeAnswer>;
  /** Ends the turn that holds that fence, and that its isolate can't begin or nobody can go on with. */
  abandon(fence: number, failure: Failure): Promise<void>;
  /** What the turn has told so far, for the isolate that goes on with it: the events after a number, a page of them. */
  replay(fence: number, after: number): Promise<Told | null>;
  /** Takes a running turn's events for those who follow it. With `after` 0 they replace what was told before. */
  tell(fence: number, told: Told): Promise<TellAnswer>;
  /** Events of a turn, waited for if there is none yet. Null where there is no such session or turn. */
  follow(request: FollowRequest): Promise<FollowAnswer | null>;
  /** What a running turn goes on from in another mode or on another model; null when another isolate has the session. */
  reread(fence: number, asked: Pick<BeginRequest, "chain" | "rerun">): Promise<TurnStart | null>;
  /** What a turn would start from; takes nothing. Null when there is no such session. */
  snapshot(request: SnapshotRequest): Promise<SnapshotAnswer | null>;
  /** Stores a compaction. `lost` if the session is no longer what the snapshot showed. */
  compact(request: CompactRequest): Promise<AppendAnswer>;
  /** All effective entries, in effective order, for a request that cannot go on from frozen bytes. */
  context(fence: number): Promise<SessionContext | null>;
  /** Marks of a chain's newest epoch, to find out where its frozen bytes changed. Null where there is none. */
  marks(fence: number, chain: string): Promise<Marks | null>;
  /** Asks the running turn to stop. False when there is no such session. */
  stop(): Promise<boolean>;
  summary(): Promise<SessionSummary | null>;
  /** Null when there is no such session. */
  patch(request: PatchRequest): Promise<PatchOutcome | null>;
  /** The open pauses. Null when there is no such session. */
  pauses(): Promise<readonly Pause[] | null>;
  /** Answers a pause; the same answer again changes nothing. `takes` false: nor does a new one. Null when there is no such session. */
  answer(pause: string, answer: PauseAnswer, takes?: boolean): Promise<AnswerOutcome | null>;
  /** Entries after `after`, at most `limit`; `next` is the value for the next call, null at the end. */
  entries(after: number, limit: number): Promise<{ entries: EntryRow[]; next: number | null } | null>;
  calls(after: number, limit: number): Promise<{ calls: CallRecord[]; next: number | null } | null>;
  /** Reads a branch of the session. Of a turn that is running it has what was finished. */
  branch(request: BranchRequest): Promise<BranchAnswer | null>;
  /** Makes this session, which must not exist, of a branch. A repeat changes nothing. */
  adopt(id: SessionId, branch: Branch): Promise<void>;
  /** How the session's tasks stand, the oldest first. Null when there is no such session. */
  taskMarks(): Promise<TaskMark[] | null>;
  /** The tasks among these turns, in their order; without what was said in them unless asked. Null as above. */
  tasks(turns: readonly string[], said: boolean): Promise<TaskRecord[] | null>;
  /** Keeps where a task's news go. `now`: also how it stands already, unless it works. */
  keepPush(turn: string, push: Push, now: boolean): Promise<PushKept>;
  /** Where a task's news go, by id. Null when there is no such task. */
  pushes(turn: string): Promise<readonly Push[] | null>;
  /** False when there is no such push. */
  dropPush(turn: string, id: string): Promise<boolean>;
  /** Deletes everything but the tombstone in D1. False when there is no such session. */
  remove(): Promise<boolean>;
  /** Resolves when all that was acknowledged is in D1. */
  flushed(): Promise<void>;
}

/**
 * What `SessionObject` answers over RPC: the session, and the pages of answers that are too large for one call. A branch
 * crosses as a stream of its JSON, which may have any size.
 */
export interface SessionRpc extends Omit<SessionApi, "branch" | "adopt"> {
  branch(request: BranchRequest): Promise<ReadableStream<Uint8Array> | null>;
  adopt(id: SessionId, branch: ReadableStream<Uint8Array>): Promise<void>;
  /** Page `n`, from 1, of what was answered under that fence; null when there is no such page. */
  page(fence: number, of: "begin" | "context", n: number): Promise<Page | null>;
}

/** How many calls of the session's object were made here so far, those that were made again included. */
export interface Counted {
  readonly requests: number;
}
