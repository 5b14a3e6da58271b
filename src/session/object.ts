import { DurableObject } from "cloudflare:workers";
import type { Marks } from "../prefix/marks.ts";
import type { Failure } from "../values/errors.ts";
import type { Pause, PauseAnswer } from "../values/pause.ts";
import type { TaskRecord } from "../values/task.ts";
import { sessionClient } from "./client.ts";
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
  TurnStart,
} from "./contract.ts";
import type { TurnJob } from "./host.ts";
import type { Push, PushJob, PushKept } from "./pushes.ts";
import { Session } from "./session.ts";
import type { TaskMark } from "./task-list.ts";

/** The Durable Object of a session: what RPC reaches. All it does is in {@link Session}. */
export class SessionObject extends DurableObject<Cloudflare.Env> implements SessionRpc {
  readonly #session: Session;

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env);
    const waitUntil = (work: Promise<unknown>) => ctx.waitUntil(work);
    const setAlarm = (due: number | null) => (due === null ? ctx.storage.deleteAlarm() : ctx.storage.setAlarm(due));
    this.#session = new Session({
      storage: ctx.storage,
      db: env.DB,
      name: ctx.id.name,
      waitUntil,
      setAlarm,
      removeOther: (id) => sessionClient(env, id).remove(),
      stopOther: (id) => sessionClient(env, id).stop(),
      ...runnerOf(ctx),
      now: Date.now,
    });
  }

  begin(request: BeginRequest): Promise<BeginAnswer> {
    return this.#session.begin(request);
  }

  repeat(request: RepeatRequest): Promise<RepeatAnswer | null> {
    return this.#session.repeat(request);
  }

  append(request: AppendRequest): Promise<AppendAnswer> {
    return this.#session.append(request);
  }

  beat(fence: number): Promise<BeatAnswer> {
    return this.#session.beat(fence);
  }

  resume(request: ResumeRequest): Promise<ResumeAnswer> {
    return this.#session.resume(request);
  }

  abandon(fence: number, failure: Failure): Promise<void> {
    return this.#session.abandon(fence, failure);
  }

  replay(fence: number, after: number): Promise<Told | null> {
    return this.#session.replay(fence, after);
  }

  tell(fence: number, told: Told): Promise<TellAnswer> {
    return this.#session.tell(fence, told);
  }

  follow(request: FollowRequest): Promise<FollowAnswer | null> {
    return this.#session.follow(request);
  }

  reread(fence: number, asked: Pick<BeginRequest, "chain" | "rerun">): Promise<TurnStart | null> {
    return this.#session.reread(fence, asked);
  }

  snapshot(request: SnapshotRequest): Promise<SnapshotAnswer | null> {
    return this.#session.snapshot(request);
  }

  compact(request: CompactRequest): Promise<AppendAnswer> {
    return this.#session.compact(request);
  }

  context(fence: number): Promise<SessionContext | null> {
    return this.#session.context(fence);
  }

  marks(fence: number, chain: string): Promise<Marks | null> {
    return this.#session.marks(fence, chain);
  }

  page(fence: number, of: "begin" | "context", n: number): Promise<Page | null> {
    return this.#session.page(fence, of, n);
  }

  stop(): Promise<boolean> {
    return this.#session.stop();
  }

  summary(): Promise<SessionSummary | null> {
    return this.#session.summary();
  }

  patch(request: PatchRequest): Promise<PatchOutcome | null> {
    return this.#session.patch(request);
  }

  pauses(): Promise<readonly Pause[] | null> {
    return this.#session.pauses();
  }

  answer(pause: string, answer: PauseAnswer, takes?: boolean): Promise<AnswerOutcome | null> {
    return this.#session.answer(pause, answer, takes);
  }

  entries(after: number, limit: number): Promise<{ entries: EntryRow[]; next: number | null } | null> {
    return this.#session.entries(after, limit);
  }

  calls(after: number, limit: number): Promise<{ calls: CallRecord[]; next: number | null } | null> {
    return this.#session.calls(after, limit);
  }

  branch(request: BranchRequest): Promise<ReadableStream<Uint8Array> | null> {
    return this.#session.branch(request);
  }

  adopt(id: SessionId, branch: ReadableStream<Uint8Array>): Promise<void> {
    return this.#session.adopt(id, branch);
  }

  taskMarks(): Promise<TaskMark[] | null> {
    return this.#session.taskMarks();
  }

  tasks(turns: readonly string[], said: boolean): Promise<TaskRecord[] | null> {
    return this.#session.tasks(turns, said);
  }

  keepPush(turn: string, push: Push, now: boolean): Promise<PushKept> {
    return this.#session.keepPush(turn, push, now);
  }

  pushes(turn: string): Promise<readonly Push[] | null> {
    return this.#session.pushes(turn);
  }

  dropPush(turn: string, id: string): Promise<boolean> {
    return this.#session.dropPush(turn, id);
  }

  remove(): Promise<boolean> {
    return this.#session.remove();
  }

  flushed(): Promise<void> {
    return this.#session.flushed();
  }

  override alarm(): Promise<void> {
    return this.#session.alarm();
  }
}

/** What the object has others do. */
interface Runner {
  run(job: TurnJob): Promise<void>;
  push(job: PushJob): Promise<void>;
}

/** The worker's own `TurnRunner`, asked over RPC, so in an invocation of its own; absent where the worker exports none. */
function runnerOf(ctx: DurableObjectState): Runner | undefined {
  // The types of `ctx.exports` are those of a worker's own main module, which is not known here.
  const { TurnRunner } = ctx.exports as unknown as { TurnRunner?: Runner };
  return TurnRunner && { run: (job) => TurnRunner.run(job), push: (job) => TurnRunner.push(job) };
}
