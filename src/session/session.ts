import { effectiveContext, openBatch, uncompacted } from "../context/effective.ts";
import type { Marks } from "../prefix/marks.ts";
import { encodeEntry } from "../values/entry.ts";
import type { Failure } from "../values/errors.ts";
import type { Pause, PauseAnswer } from "../values/pause.ts";
import type { TaskRecord } from "../values/task.ts";
import { isEnd } from "../values/turn-event.ts";
import { adoptBranch } from "./adopt.ts";
import { admit, applyAppend } from "./append.ts";
import { Bell } from "./bell.ts";
import { readBranch } from "./branch.ts";
import { readBranchStream, streamOf } from "./branch-stream.ts";
import { Burial } from "./burial.ts";
import { epochMarks } from "./chain.ts";
import { childrenOf } from "./children.ts";
import { storeCompaction } from "./compaction.ts";
import type {
  AnswerOutcome,
  AppendAnswer,
  AppendRequest,
  BeatAnswer,
  BeginAnswer,
  BeginRequest,
  BranchRequest,
  CallRecord,
  CompactRequest,
  EntryRow,
  FollowAnswer,
  FollowRequest,
  Page,
  PatchOutcome,
  PatchRequest,
  RepeatAnswer,
  RepeatRequest,
  ResumeAnswer,
  ResumeRequest,
  SessionContext,
  SessionId,
  SessionRpc,
  SessionSummary,
  SnapshotAnswer,
  SnapshotRequest,
  TellAnswer,
  Told,
  TurnEnd,
  TurnStart,
} from "./contract.ts";
import { Following } from "./following.ts";
import { History } from "./history.ts";
import type { SessionHost } from "./host.ts";
import { claim, HOLD_MS, retryAfter, watched } from "./lease.ts";
import { parseSessionName } from "./name.ts";
import { News } from "./news.ts";
import { Outbox } from "./outbox.ts";
import { listsOf, listsOfContext, PAGE_CHARS, paginate, withLists } from "./page.ts";
import { patchRow } from "./patch.ts";
import { judgeAnswer, openPauses, waitingPause } from "./pauses.ts";
import type { Push, PushKept } from "./pushes.ts";
import { firstPage, summaryOf, turnStart, wholeContext } from "./read.ts";
import { type Look, rebuild } from "./rebuild.ts";
import { repeatOf } from "./repeat.ts";
import { expiry } from "./retention.ts";
import { closeTurn, createSession, forkTitle, goOn, takeTurn } from "./start.ts";
import { type SessionRow, Store, type Timer } from "./store.ts";
import type { TaskMark } from "./task-list.ts";
import { taskMarks, tasksOf } from "./tasks.ts";
import { Timers } from "./timers.ts";
import { isEndOf } from "./told.ts";

/** A turn's last answer goes out before its copy begins, which would take the object's time from it. */
const FLUSH_AFTER_MS = 20;

const NO_RUNNER = "this worker exports no TurnRunner: a turn can't go on without the isolate that began it";

/** What decides about a turn's start but is not stored. */
type Asking = Pick<BeginRequest, "chain" | "rerun" | "fallback">;

/** A session: its journal and its lock. Turns run elsewhere and touch it for milliseconds. */
export class Session implements SessionRpc {
  readonly #host: SessionHost;
  readonly #store: Store;
  /** When the running turn's lease runs out. Null in an object that was just made: the turn then gets a whole one. */
  #until: number | null = null;
  /** Rings for those begins that wait for the running turn to end. */
  readonly #freed = new Bell();
  #looking: Promise<Look> | null = null;
  readonly #outbox: Outbox;
  readonly #timers: Timers;
  readonly #following: Following;
  readonly #news: News;
  readonly #burial: Burial;
  /** What the running turn asked for, to page its start. */
  #asked: { readonly fence: number; readonly request: Asking } | null = null;

  constructor(host: SessionHost) {
    this.#host = host;
    this.#store = new Store(host.storage);
    this.#outbox = new Outbox({
      db: host.db,
      store: this.#store,
      waitUntil: (work) => host.waitUntil(work),
      done: () => this.#timers.done("outbox"),
      failed: (message, error) => this.#failed("outbox", message, error),
      report,
    });
    this.#following = new Following(this.#store, () => host.now());
    this.#timers = new Timers(this.#store, host.setAlarm, report);
    this.#news = new News(host, this.#store, this.#timers, report);
    this.#burial = new Burial(host, this.#store, () => {
      this.#looking = Promise.resolve("gone");
    });
  }

  async begin(request: BeginRequest): Promise<BeginAnswer> {
    refuseUnknown(request.v);
    let found = await this.#find(request.id, request.minted);
    if (found === "gone" || found === "unavailable") return { kind: found };
    const deadline = this.#host.now() + HOLD_MS;
    for (;;) {
      const now = this.#host.now();
      const row = this.#store.session();
      if (row === null ? found === "here" : row.deleted_at !== null) return { kind: "gone" };
      if (row === null && request.goOn) return { kind: "settled" };
      if (row === null) {
        return this.#started(request, now, createSession(this.#store, request, now), request.turn);
      }
      found = "here";
      const until = this.#leaseOf(row, now);
      const repeat = this.#repeatOf(row, request, now >= until, now);
      if (repeat !== null) return repeat;
      const claimed = claim(row, until, request.turn, now);
      if (claimed.kind === "busy") {
        if (request.goOn) return { kind: "settled" };
        if (request.busy === "interrupt" && row.cancel === 0) {
          this.#cancel(row);
          continue;
        }
        // A turn that was told to stop is as good as over: whoever stopped it may type again at once.
        const rejects = request.busy === "reject" && row.cancel === 0;
        if (rejects || now >= deadline) return { kind: "busy", retryAfter: retryAfter(until, now) };
        await this.#freed.next(Math.min(until, deadline) - now);
        continue;
      }
      if (claimed.kind === "again") return this.#started(request, now, History.read(this.#store, row), request.turn);
      const taken = takeTurn(this.#store, row, request, now);
      if (taken === null) return { kind: "settled" };
      this.#news.soon();
      // What was told up to a pause ended with it, and the turn goes on.
      if (row.status === "paused") this.#following.begins(row.turn);
      // A task is listed from D1, also while it works; a sub-session once it ends.
      if ((taken.reset && row.parent === null) || request.task !== undefined) this.#outbox.soon(0);
      return this.#started(request, now, taken.history, request.turn);
    }
  }

  async repeat(request: RepeatRequest): Promise<RepeatAnswer | null> {
    refuseUnknown(request.v);
    const found = await this.#find(request.id, request.minted);
    const row = found === "here" ? this.#store.session() : null;
    if (row === null || row.deleted_at !== null) return null;
    const now = this.#host.now();
    return this.#repeatOf(row, request, now >= this.#leaseOf(row, now), now);
  }

  async append(request: AppendRequest): Promise<AppendAnswer> {
    refuseUnknown(request.v);
    const row = this.#store.session();
    const admission = admit(row, request);
    if (row === null || admission === "lost") return { kind: "lost" };
    if (admission === "repeat") return { kind: "ok", lastSeq: row.last_seq };
    if (request.kind === "handover" && this.#host.run === undefined) throw new Error(NO_RUNNER);
    const now = this.#host.now();
    const answer = applyAppend(this.#store, row, request, now);
    this.#until = now + row.lease_seconds * 1000;
    if (request.told !== undefined) this.#following.tell(row, request.told);
    if (request.kind === "handover") this.#giveOut({ ...row, handed: 1 });
    if (request.kind === "finish") this.#over();
    // A sub-session is in D1 once it ends.
    if (request.deferrals !== undefined && row.parent === null) this.#outbox.soon(0);
    else if (request.kind === "finish") this.#outbox.soon(FLUSH_AFTER_MS);
    return answer.kind === "ok" && this.#following.wants(row) ? { ...answer, attach: true } : answer;
  }

  async beat(fence: number): Promise<BeatAnswer> {
    const row = this.#holder(fence);
    if (row === null) return "lost";
    this.#until = this.#host.now() + row.lease_seconds * 1000;
    if (row.cancel !== 0) return "cancel";
    return this.#following.wants(row) ? "attach" : "go";
  }

  async resume(request: ResumeRequest): Promise<ResumeAnswer> {
    refuseUnknown(request.v);
    const row = this.#store.session();
    if (row === null || row.deleted_at !== null || row.status !== "running" || row.turn !== request.turn) {
      return { kind: "lost" };
    }
    const now = this.#host.now();
    const again = row.attempt === request.attempt;
    if (!again && (row.handed === 0 || row.fence !== request.fence)) return { kind: "lost" };
    if (!again && row.cancel !== 0) {
      this.#close(row, "stopped", { stop: "stopped" });
      return { kind: "lost" };
    }
    const history = History.read(this.#store, row);
    if (!again) goOn(this.#store, row, request, history);
    return this.#started(request, now, history, request.attempt);
  }

  async abandon(fence: number, failure: Failure): Promise<void> {
    const row = this.#holder(fence);
    if (row !== null) this.#close(row, "failed", { failure });
  }

  async replay(fence: number, after: number): Promise<Told | null> {
    const row = this.#holder(fence);
    return row === null ? null : this.#following.replay(row, after);
  }

  async tell(fence: number, told: Told): Promise<TellAnswer> {
    const row = this.#store.session();
    // A turn's last events come after it has ended.
    if (row === null || row.deleted_at !== null || row.fence !== fence) return "lost";
    // An isolate may not know how its turn ended, where the answer to its last append was lost: the entries tell it then.
    if (told.events.some((event) => isEnd(event) && !isEndOf(row, event))) return "lost";
    return this.#following.tell(row, told);
  }

  async follow(request: FollowRequest): Promise<FollowAnswer | null> {
    refuseUnknown(request.v);
    return this.#following.follow(await this.#known(), request);
  }

  async reread(fence: number, asked: Pick<BeginRequest, "chain" | "rerun">): Promise<TurnStart | null> {
    const row = this.#holder(fence);
    return row === null ? null : this.#read(row, asked, History.read(this.#store, row));
  }

  async context(fence: number): Promise<SessionContext | null> {
    const row = this.#unclaimed(fence);
    if (row === null) return null;
    const [{ entries, blobs }, ...rest] = paginate(listsOfContext(wholeContext(this.#store, row)));
    return { entries, blobs, more: rest.length };
  }

  async snapshot(request: SnapshotRequest): Promise<SnapshotAnswer | null> {
    refuseUnknown(request.v);
    const row = await this.#known();
    if (row === null) return null;
    if (row.status === "paused") return { kind: "paused" };
    const now = this.#host.now();
    if (row.status === "running") return { kind: "busy", retryAfter: retryAfter(this.#leaseOf(row, now), now) };
    return this.#read(row, { chain: request.chain, rerun: [] }, History.read(this.#store, row));
  }

  async compact(request: CompactRequest): Promise<AppendAnswer> {
    refuseUnknown(request.v);
    const row = await this.#known();
    if (row === null) return { kind: "lost" };
    const answer = storeCompaction(this.#store, row, request, this.#host.now());
    if (answer.kind === "ok") this.#copySoon();
    return answer;
  }

  async marks(fence: number, chain: string): Promise<Marks | null> {
    return this.#holder(fence) === null ? null : epochMarks(this.#store, chain);
  }

  async page(fence: number, of: "begin" | "context", n: number): Promise<Page | null> {
    const row = this.#unclaimed(fence);
    if (row === null) return null;
    if (of === "context") return paginate(listsOfContext(wholeContext(this.#store, row)))[n] ?? null;
    if (this.#asked?.fence !== fence) return null;
    const start = turnStart(this.#store, row, this.#asked.request, History.read(this.#store, row));
    return paginate(listsOf(start))[n] ?? null;
  }

  async stop(): Promise<boolean> {
    const row = await this.#known();
    if (row?.status === "running") this.#cancel(row);
    // Nobody is to answer a turn that waits.
    if (row?.status === "paused") this.#close(row, "stopped", { stop: "stopped" });
    return row !== null;
  }

  /** Tells the running turn to stop. One that no isolate has at the moment is over at once. */
  #cancel(row: SessionRow): void {
    if (row.handed === 1) this.#close(row, "stopped", { stop: "stopped" });
    else if (row.cancel === 0) {
      this.#store.update({ cancel: 1 });
      // At once: their leases may run out before this one's, and another isolate would go on with them.
      this.#stopChildren(row);
    }
  }

  async summary(): Promise<SessionSummary | null> {
    const row = await this.#known();
    return row === null ? null : summaryOf(this.#store, row);
  }

  async patch({ v, mode, title }: PatchRequest): Promise<PatchOutcome | null> {
    refuseUnknown(v);
    const row = await this.#known();
    if (row === null) return null;
    const now = this.#host.now();
    const until = this.#leaseOf(row, now);
    if (mode !== undefined && claim(row, until, "", now).kind === "busy") {
      return { kind: "busy", retryAfter: retryAfter(until, now) };
    }
    if (patchRow(this.#store, row, { mode, title }, now)) this.#copySoon();
    return { kind: "ok", summary: summaryOf(this.#store, this.#store.session() ?? row) };
  }

  async pauses(): Promise<readonly Pause[] | null> {
    const row = await this.#known();
    if (row === null) return null;
    const waiting = row.status === "paused" ? waitingPause(this.#effective(row)) : null;
    return waiting === null ? [] : openPauses(waiting);
  }

  async answer(pause: string, answer: PauseAnswer, takes = true): Promise<AnswerOutcome | null> {
    const row = await this.#known();
    if (row === null) return null;
    // An answer that is given again may be to a pause that a compaction left out.
    const judged = judgeAnswer(uncompacted(History.read(this.#store, row).all), row.status, pause, answer);
    if (judged.kind !== "new") return judged;
    if (!takes) return { kind: "not_taken" };
    const at = this.#host.now();
    const made = { v: 1, origin: "client", at, turn: row.turn } as const;
    const entry = encodeEntry({ ...made, kind: "pause_answer", of: judged.of, pause, answer });
    const [rev, lastSeq] = [row.rev + 1, row.last_seq + 1];
    this.#store.transaction(() => {
      this.#store.addEntries(rev, lastSeq, [entry]);
      this.#store.update({ rev, last_seq: lastSeq, updated_at: at });
    });
    this.#copySoon();
    return { kind: "answered", goesOn: judged.goesOn };
  }

  async entries(after: number, limit: number): Promise<{ entries: EntryRow[]; next: number | null } | null> {
    if ((await this.#known()) === null) return null;
    const { page, more } = firstPage(this.#store.entries(after), limit, PAGE_CHARS, ([, text]) => text.length);
    return { entries: page, next: more ? (page.at(-1)?.[0] ?? after) : null };
  }

  async calls(after: number, limit: number): Promise<{ calls: CallRecord[]; next: number | null } | null> {
    if ((await this.#known()) === null) return null;
    const { page, more } = firstPage(this.#store.calls(after), limit, Number.POSITIVE_INFINITY, () => 0);
    return { calls: page.map(({ call }) => call), next: more ? (page.at(-1)?.rev ?? after) : null };
  }

  async branch({ v, at, of }: BranchRequest): Promise<ReadableStream<Uint8Array> | null> {
    refuseUnknown(v);
    const row = await this.#known();
    if (row === null) return null;
    const title = of === "fork" ? forkTitle(row.title, row.forks + 1) : row.title;
    const answer = readBranch(this.#store, row, at, title);
    if (of === "fork" && answer.kind === "branch") {
      this.#store.update({ rev: row.rev + 1, forks: row.forks + 1 });
      this.#copySoon();
    }
    return streamOf(JSON.stringify(answer));
  }

  async adopt(id: SessionId, stream: ReadableStream<Uint8Array>): Promise<void> {
    const branch = await readBranchStream(stream);
    refuseUnknown(branch.v);
    // Its answer was lost on the way.
    if (this.#store.session() !== null) return;
    adoptBranch(this.#store, id, branch, this.#host.now());
    this.#keep();
    this.#copySoon();
  }

  async taskMarks(): Promise<TaskMark[] | null> {
    const row = await this.#known();
    return row === null ? null : taskMarks(this.#store, row.conversation);
  }

  async tasks(turns: readonly string[], said: boolean): Promise<TaskRecord[] | null> {
    return (await this.#known()) === null ? null : tasksOf(this.#store, turns, said);
  }

  async keepPush(turn: string, push: Push, now: boolean): Promise<PushKept> {
    const row = await this.#known();
    const [task] = row === null ? [] : tasksOf(this.#store, [turn], false);
    if (row === null || task === undefined) return "unknown";
    const kept = this.#news.keep(row, task, push, now);
    if (kept === "kept") this.#copySoon();
    return kept;
  }

  async pushes(turn: string): Promise<readonly Push[] | null> {
    const row = await this.#known();
    return row === null || !this.#store.isTask(turn) ? null : this.#store.pushes(turn);
  }

  async dropPush(turn: string, id: string): Promise<boolean> {
    const row = await this.#known();
    if (row === null || !this.#news.drop(row, turn, id)) return false;
    this.#copySoon();
    return true;
  }

  async remove(): Promise<boolean> {
    const row = await this.#known();
    if (row === null) return false;
    await this.#remove(row);
    return true;
  }

  flushed(): Promise<void> {
    return this.#outbox.all();
  }

  /** The object's alarm: what failed before is tried again, and what another object left that died. Never rejects. */
  async alarm(): Promise<void> {
    const row = this.#store.session();
    if (row === null) return;
    if (row.deleted_at !== null) await this.#later("burial");
    else if (row.status !== "running" && row.recorded_rev < row.rev) await this.#later("outbox");
    await this.#timers.ring(this.#host.now(), {
      lease: () => this.#watchLease(),
      outbox: async () => {
        await this.flushed();
        return null;
      },
      burial: async () => {
        await this.#burial.bury();
        return null;
      },
      push: () => this.#news.tell(),
      retention: () => this.#expire(),
    });
  }

  /** From here on everything is refused, and the turn that runs has lost the session. */
  async #remove(row: SessionRow): Promise<void> {
    this.#store.update({ deleted_at: this.#host.now(), fence: row.fence + 1, status: "stopped" });
    const later = this.#later("burial");
    this.#freed.ring();
    this.#following.ends();
    await later;
    await this.#burySoon();
  }

  /** Deletes the session if it was idle for long enough. Answers when to look again. */
  async #expire(): Promise<number | null> {
    const row = this.#store.session();
    const due = row === null || row.deleted_at !== null ? null : expiry(row);
    if (row === null || due === null) return null;
    const now = this.#host.now();
    const busy = row.status === "running" ? this.#leaseOf(row, now) : 0;
    if (now < Math.max(due, busy)) return Math.max(due, busy);
    await this.#remove(row);
    return null;
  }

  /** The lease's timer rang: a turn whose isolate is silent goes to another one. Answers when to look again. */
  #watchLease(): number | null {
    const row = this.#store.session();
    if (row === null || row.deleted_at !== null) return null;
    const now = this.#host.now();
    const turn = watched(row, this.#leaseOf(row, now), this.#host.run !== undefined, now);
    switch (turn.kind) {
      case "rest":
        return null;
      case "alive":
        return turn.until;
      case "over":
        this.#close(row, turn.status, turn.end);
        return null;
      case "goes_on": {
        const dead = { fence: row.fence + 1, handed: 1, attempts: turn.attempts };
        this.#store.update(dead);
        this.#giveOut({ ...row, ...dead });
        return this.#leaseOf(row, now);
      }
    }
  }

  #watch(due: number, name: "lease" | "retention" = "lease"): void {
    const armed = this.#timers.at(name, due);
    this.#host.waitUntil(armed.catch((error: unknown) => report(`no alarm for the ${name}`, error)));
  }

  /** Sees to it that somebody looks when the session, staying idle, is to be deleted. */
  #keep(): void {
    const row = this.#store.session();
    const due = row === null ? null : expiry(row);
    if (due !== null) this.#watch(due, "retention");
  }

  /** Has another isolate go on with the running turn. If none comes the lease runs out, and it is asked again. */
  #giveOut(row: SessionRow): void {
    this.#until = this.#host.now() + row.lease_seconds * 1000;
    const { owner, agent, conversation, turn, fence } = row;
    const run = this.#host.run?.({ v: 1, id: { owner, agent, conversation }, turn, fence });
    if (run !== undefined)
      this.#host.waitUntil(run.catch((error: unknown) => report("no isolate took the turn", error)));
  }

  /** Ends the running turn from here: its open calls count as interrupted, and its isolate, if any, has lost it. */
  #close(row: SessionRow, status: "failed" | "stopped", end: TurnEnd): void {
    const now = this.#host.now();
    this.#stopChildren(row);
    closeTurn(this.#store, row, status, end, now);
    this.#over();
    this.#copySoon();
  }

  /** Stops what the open calls of a turn began: its isolate, which would have, may be gone. Nobody waits for it. */
  #stopChildren(row: SessionRow): void {
    const { stopOther } = this.#host;
    const open = openBatch(this.#effective(row));
    if (stopOther === undefined || open === null) return;
    for (const child of childrenOf(row, [[open.seq, encodeEntry(open.entry)]])) {
      const stopped = stopOther(child).catch((error: unknown) => report("a sub-session could not be stopped", error));
      this.#host.waitUntil(stopped);
    }
  }

  /** Renews the lease and answers what the turn starts from, its first page. */
  #started({ chain, rerun, fallback = false }: Asking, now: number, history: History, attempt: string): TurnStart {
    const row = this.#store.session();
    if (row === null) throw new Error("a session that was just begun is not there");
    this.#until = now + row.lease_seconds * 1000;
    if (row.turn === attempt) this.#following.begins(row.turn);
    this.#watch(this.#until);
    this.#keep();
    return this.#read(row, { chain, rerun, fallback }, history);
  }

  /** What a turn starts or goes on from, or a compaction between turns, its first page. */
  #read(row: SessionRow, request: Asking, history: History): TurnStart {
    this.#asked = { fence: row.fence, request };
    const start = turnStart(this.#store, row, request, history);
    const [first, ...rest] = paginate(listsOf(start));
    const attach = this.#following.wants(row) ? ({ attach: true } as const) : {};
    return { ...withLists(start, first, rest.length), ...attach };
  }

  /** `dead`: the lease of the newest turn has run out. A `begin` that has the session already is no repeat. */
  #repeatOf(row: SessionRow, { once, turn }: RepeatRequest, dead: boolean, now: number): RepeatAnswer | null {
    if (once === undefined || row.attempt === turn) return null;
    const key = once.key === null ? null : this.#store.key(once.key);
    const repeat = repeatOf(once, row, key, dead, now);
    switch (repeat.kind) {
      case "new":
        return null;
      case "joins":
        return { kind: "joined", turn: repeat.turn };
      case "key_reused":
        return repeat;
    }
  }

  #effective(row: SessionRow) {
    return effectiveContext(History.read(this.#store, row).all);
  }

  /** The session's row if the turn with that fence holds it. */
  #holder(fence: number): SessionRow | null {
    const row = this.#store.session();
    return row !== null && row.fence === fence && row.status === "running" && row.deleted_at === null ? row : null;
  }

  /** The session's row if no turn began since that fence was given. */
  #unclaimed(fence: number): SessionRow | null {
    const row = this.#store.session();
    return row !== null && row.fence === fence && row.deleted_at === null ? row : null;
  }

  /** When the running turn's lease runs out. What this object does not remember has a whole lease from now on. */
  #leaseOf(row: SessionRow, now: number): number {
    this.#until ??= now + row.lease_seconds * 1000;
    return this.#until;
  }

  /** Whether there is a session, after one look into D1 where this object is empty and can't know. */
  async #find(id: SessionId | null, minted: boolean): Promise<"here" | "none" | "gone" | "unavailable"> {
    const row = this.#store.session();
    if (row !== null && row.deleted_at === null) return "here";
    if (row !== null) {
      this.#host.waitUntil(this.#burySoon());
      return "gone";
    }
    if (minted || id === null || this.#host.db === null) return "none";
    this.#looking ??= rebuild(this.#host.db, this.#store, id);
    try {
      const look = await this.#looking;
      if (look !== "rebuilt") return look;
      // The turn that was running when the record was made had another fence: nothing of it can come any more.
      this.#until ??= 0;
      this.#watch(this.#host.now());
      this.#keep();
      return "here";
    } catch (error) {
      this.#looking = null;
      report("session could not be looked up in D1", error);
      return "unavailable";
    }
  }

  /** The row of the session this object is named after; null when there is none. Throws when D1 can't be asked. */
  async #known(): Promise<SessionRow | null> {
    const found = await this.#find(parseSessionName(this.#host.name), false);
    if (found === "unavailable") throw new Error("unavailable: the session could not be looked up");
    const row = found === "here" ? this.#store.session() : null;
    return row?.deleted_at === null ? row : null;
  }

  /** The turn is over: who waits for the session gets it, and who follows the turn its end. */
  #over(): void {
    this.#news.soon();
    this.#freed.ring();
    this.#following.ends();
  }

  /** Reports what failed and tries it again later. The session's storage may be gone by then, and with it the need. */
  async #failed(name: Timer["name"], message: string, error: unknown): Promise<void> {
    report(message, error);
    if (this.#store.session() !== null) await this.#later(name);
  }

  /** Has the alarm do it, in this object or in another one of this session. */
  async #later(name: Timer["name"]): Promise<void> {
    await this.#timers.retry(name, this.#host.now()).catch((error: unknown) => report(`no alarm for ${name}`, error));
  }

  /** Copies what was written outside of a turn, behind which no lease's alarm rings. */
  #copySoon(): void {
    this.#host.waitUntil(this.#later("outbox"));
    this.#outbox.soon(0);
  }

  /** Buries the session, for whoever does not wait for it. */
  #burySoon(): Promise<void> {
    return this.#burial
      .bury()
      .catch((error: unknown) => this.#failed("burial", "tombstone could not be written to D1", error));
  }
}

function refuseUnknown(v: number): void {
  if (v !== 1) throw new Error(`version ${v} of this request is not known to this object yet: retry`);
}

/** A line for the operator's log, without content. */
function report(message: string, error: unknown): void {
  console.warn(JSON.stringify({ level: "warn", message, error: error instanceof Error ? error.message : null }));
}
