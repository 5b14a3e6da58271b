import { type Failure, HoldfastError } from "../values/errors.ts";
import type { PauseAnswer } from "../values/pause.ts";
import type { Branch, BranchAnswer } from "./branch.ts";
import { readAnswer, streamOf } from "./branch-stream.ts";
import type {
  AppendAnswer,
  AppendRequest,
  BeatAnswer,
  BeginAnswer,
  BeginRequest,
  BranchRequest,
  CompactRequest,
  Counted,
  FollowRequest,
  Page,
  PatchRequest,
  RepeatRequest,
  ResumeAnswer,
  ResumeRequest,
  SessionApi,
  SessionContext,
  SessionId,
  SessionRpc,
  SnapshotAnswer,
  SnapshotRequest,
  Told,
  TurnStart,
} from "./contract.ts";
import { sessionName } from "./name.ts";
import { assemble, listsOf, listsOfContext, withLists } from "./page.ts";
import type { Push } from "./pushes.ts";
import { mustFitCall } from "./rpc-limit.ts";

/** Where stubs come from: the part of a namespace that a client uses. */
export interface Stubs {
  getByName(name: string): SessionRpc;
}

const TRIES = 5;
const TRIES_MS = 10_000;
const FIRST_WAIT_MS = 50;

/** The session of that name, as turns and surfaces hold it. Asks nothing by itself. */
export function sessionClient(env: Cloudflare.Env, id: SessionId): SessionApi & Counted {
  // The types of RPC make lists of tuples; what crosses is what the object answers.
  const stubs = env.SESSIONS as unknown as Stubs;
  return new SessionClient(stubs, sessionName(id));
}

/**
 * A session behind its stub. A call that fails because the object was reset, or on the way, is made again on a new
 * stub, up to five times within ten seconds: that is safe because `begin` and `append` know their repeats. Answers that
 * cross RPC in pages are put together here.
 */
export class SessionClient implements SessionApi, Counted {
  readonly #stubs: Stubs;
  readonly #name: string;
  readonly #wait: (ms: number) => Promise<void>;
  #requests = 0;

  constructor(stubs: Stubs, name: string, wait = sleep) {
    this.#stubs = stubs;
    this.#name = name;
    this.#wait = wait;
  }

  get requests(): number {
    return this.#requests;
  }

  async begin(request: BeginRequest): Promise<BeginAnswer> {
    mustFitCall(request, "This request");
    return this.#whole((stub) => stub.begin(request));
  }

  repeat(request: RepeatRequest) {
    return this.#call((stub) => stub.repeat(request));
  }

  async append(request: AppendRequest): Promise<AppendAnswer> {
    mustFitCall(request, "What this turn has done");
    return this.#call((stub) => stub.append(request));
  }

  /** Not tried again: the next beat is only a second away. */
  beat(fence: number): Promise<BeatAnswer> {
    return this.#stub().beat(fence);
  }

  resume(request: ResumeRequest): Promise<ResumeAnswer> {
    return this.#whole((stub) => stub.resume(request));
  }

  abandon(fence: number, failure: Failure) {
    return this.#call((stub) => stub.abandon(fence, failure));
  }

  replay(fence: number, after: number) {
    return this.#call((stub) => stub.replay(fence, after));
  }

  /** Not tried again: what was not told is told with the next events. */
  tell(fence: number, told: Told) {
    return this.#stub().tell(fence, told);
  }

  follow(request: FollowRequest) {
    return this.#call((stub) => stub.follow(request));
  }

  reread(fence: number, asked: Pick<BeginRequest, "chain" | "rerun">): Promise<TurnStart | null> {
    return this.#whole((stub) => stub.reread(fence, asked));
  }

  async context(fence: number): Promise<SessionContext | null> {
    const context = await this.#call((stub) => stub.context(fence));
    if (context === null || !context.more) return context;
    const rest = await this.#pages(fence, "context", context.more);
    if (rest === null) return null;
    const { entries, blobs } = assemble(listsOfContext(context), rest);
    return { entries, blobs };
  }

  snapshot(request: SnapshotRequest) {
    return this.#whole((stub) => stub.snapshot(request));
  }

  compact(request: CompactRequest) {
    return this.#call((stub) => stub.compact(request));
  }

  marks(fence: number, chain: string) {
    return this.#call((stub) => stub.marks(fence, chain));
  }

  stop() {
    return this.#call((stub) => stub.stop());
  }

  summary() {
    return this.#call((stub) => stub.summary());
  }

  patch(request: PatchRequest) {
    return this.#call((stub) => stub.patch(request));
  }

  pauses() {
    return this.#call((stub) => stub.pauses());
  }

  answer(pause: string, answer: PauseAnswer, takes: boolean) {
    return this.#call((stub) => stub.answer(pause, answer, takes));
  }

  entries(after: number, limit: number) {
    return this.#call((stub) => stub.entries(after, limit));
  }

  calls(after: number, limit: number) {
    return this.#call((stub) => stub.calls(after, limit));
  }

  async branch(request: BranchRequest): Promise<BranchAnswer | null> {
    const answer = await this.#call(async (stub) => {
      const stream = await stub.branch(request);
      return stream === null ? null : new Response(stream).text();
    });
    return answer === null ? null : readAnswer(answer);
  }

  adopt(id: SessionId, branch: Branch): Promise<void> {
    const text = JSON.stringify(branch);
    return this.#call((stub) => stub.adopt(id, streamOf(text)));
  }

  taskMarks() {
    return this.#call((stub) => stub.taskMarks());
  }

  tasks(turns: readonly string[], said: boolean) {
    return this.#call((stub) => stub.tasks(turns, said));
  }

  keepPush(turn: string, push: Push, now: boolean) {
    return this.#call((stub) => stub.keepPush(turn, push, now));
  }

  pushes(turn: string) {
    return this.#call((stub) => stub.pushes(turn));
  }

  dropPush(turn: string, id: string) {
    return this.#call((stub) => stub.dropPush(turn, id));
  }

  remove() {
    return this.#call((stub) => stub.remove());
  }

  flushed() {
    return this.#call((stub) => stub.flushed());
  }

  /** A turn's start with all of its pages, or the answer in its place. */
  async #whole<T extends BeginAnswer | ResumeAnswer | SnapshotAnswer | null>(
    ask: (stub: SessionRpc) => Promise<T | TurnStart>,
  ): Promise<T | TurnStart> {
    for (let tries = 1; ; tries++) {
      const start = await this.#call(ask);
      if (start?.kind !== "go" || !start.more) return start;
      const rest = await this.#pages(start.fence, "begin", start.more);
      if (rest !== null) return withLists(start, assemble(listsOf(start), rest), 0);
      // The object forgot what was asked of it between two pages. Asked again, it answers the same.
      if (tries === TRIES) throw new Error("the session's object restarts again and again");
    }
  }

  #stub(): SessionRpc {
    this.#requests++;
    return this.#stubs.getByName(this.#name);
  }

  async #pages(fence: number, of: "begin" | "context", count: number): Promise<Page[] | null> {
    const pages: Page[] = [];
    for (let n = 1; n <= count; n++) {
      const page = await this.#call((stub) => stub.page(fence, of, n));
      if (page === null) return null;
      pages.push(page);
    }
    return pages;
  }

  async #call<T>(ask: (stub: SessionRpc) => Promise<T>): Promise<T> {
    const since = Date.now();
    for (let tries = 1; ; tries++) {
      try {
        return await ask(this.#stub());
      } catch (error) {
        if (isUnavailable(error)) throw unavailable();
        const late = tries >= TRIES || Date.now() - since >= TRIES_MS;
        if (late || !mayPass(error)) throw asFailure(error);
      }
      await this.#wait(FIRST_WAIT_MS * 2 ** tries);
    }
  }
}

/** The worker runs newer code than the object for some minutes after a deploy, and says something it does not know yet. */
const UNKNOWN = "is not known to this object yet: retry";

/** Whether the same call may succeed on a new stub. An overloaded object is left alone. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof Error) || says(error, "overloaded")) return false;
  return says(error, "retryable") || says(error, "durableObjectReset") || error.message.endsWith(UNKNOWN);
}

/** What the platform says of an error that came from an object, or from the way to it. */
function says(error: Error, property: "overloaded" | "retryable" | "durableObjectReset"): boolean {
  return Object.getOwnPropertyDescriptor(error, property)?.value === true;
}

/** The error that the caller reads: an object that can't be reached right now is no fault of ours. */
function asFailure(error: unknown): unknown {
  if (!(error instanceof Error) || !(says(error, "overloaded") || mayPass(error))) return error;
  const message = says(error, "overloaded")
    ? "This conversation gets more requests than it can take. Try again later."
    : "This conversation can't be reached right now. Try again.";
  return new HoldfastError({ reason: "unavailable", retryAfter: 5, message, detail: error.message });
}

function isUnavailable(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("unavailable: ");
}

function unavailable(): HoldfastError {
  const message = "The store can't say right now whether this conversation exists. Try again.";
  return new HoldfastError({ reason: "unavailable", retryAfter: 5, message });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
