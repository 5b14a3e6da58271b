import type { Message, StreamResponse, Task } from "@a2a-js/sdk";
import { UnsupportedOperationError } from "@a2a-js/sdk/errors";
import type { SessionApi } from "../../session/contract.ts";
import { answerPause } from "../../turn/answer-pause.ts";
import { followTurn } from "../../turn/follow.ts";
import { plainRequest } from "../../turn/plain-request.ts";
import type { TurnRequest } from "../../turn/runtime.ts";
import { HoldfastError } from "../../values/errors.ts";
import { isOver, type TaskRecord, waitsFor } from "../../values/task.ts";
import { isEnd, type TurnEvent } from "../../values/turn-event.ts";
import { type Call, sessionOf } from "./call.ts";
import { noSuchTask } from "./errors.ts";
import { derivedContext, fingerprint, type Incoming } from "./incoming.ts";
import { checkPush, createPush } from "./push.ts";
import { readAnswers } from "./question.ts";
import { taskId } from "./task-id.ts";
import { TaskStream } from "./task-stream.ts";
import { statusView, storedMessage, taskView } from "./task-view.ts";
import { findTask, readTask } from "./tasks.ts";

/** A turn that has begun, and what it tells from then on if it is read here. */
interface Begun {
  readonly contextId: string;
  readonly turn: string;
  readonly events: AsyncIterable<TurnEvent> | null;
}

/** Starts a task, or goes on with one, and answers it when it is over or waits; at once where that was asked for. */
export async function sendMessage(call: Call, incoming: Incoming): Promise<Task> {
  const begun = await begin(call, incoming, incoming.returnImmediately ? alone(call) : attached(call));
  if (begun.events !== null) for await (const _ of begun.events);
  return taskView(begun.contextId, await record(call, begun), { ...incoming, artifacts: true });
}

/** The same, told while it goes on: the task first, then what changes, last how it ended. */
export async function* streamMessage(call: Call, incoming: Incoming): AsyncGenerator<StreamResponse, void, undefined> {
  const begun = await begin(call, incoming, attached(call));
  const { contextId, events } = begun;
  const first = await record(call, begun);
  // What was answered before the turn went on is the task's already; what it says now is told below.
  const answers = incoming.taskId === null ? 0 : first.said.filter(({ kind }) => kind === "text").length;
  const view = taskView(contextId, first, { ...incoming, artifacts: answers > 0 });
  yield { payload: { $case: "task", value: view } };
  const stream = new TaskStream(view, answers);
  if (events !== null) for await (const event of events) yield* stream.take(event);
  yield ending(contextId, await record(call, begun));
}

/** How a stream ends: with how the task stands now. */
export function ending(contextId: string, task: TaskRecord): StreamResponse {
  const status = statusView(contextId, task);
  const value = { taskId: taskId({ contextId, turn: task.turn }), contextId, status, metadata: undefined };
  return { payload: { $case: "statusUpdate", value } };
}

/** How a turn is run, `turn` if it goes on: it has begun once this resolves. */
type Run = (contextId: string, request: TurnRequest, turn: string | null) => Promise<Begun>;

/** Runs a turn here, read by this request. If its client leaves it goes on elsewhere. */
function attached(call: Call): Run {
  return async (contextId, request, known) => {
    const { deps, env, ctx, signal } = call;
    const running = deps.startTurn(env, ctx, { ...request, signal });
    const told = running.events[Symbol.asyncIterator]();
    const first = await told.next();
    if (first.done) throw new Error("a turn told nothing");
    if (first.value.type === "failed") throw new HoldfastError(first.value.failure);
    const turn = first.value.type === "started" ? first.value.turn : known;
    if (turn === null) throw new Error(`a turn began with ${first.value.type}`);
    return { contextId, turn, events: toItsEnd(sessionOf(call, contextId), turn, first.value, told, signal) };
  };
}

/** All that a turn tells: what is told here, and if that ends before the turn, because it goes on elsewhere, the rest. */
async function* toItsEnd(
  session: SessionApi,
  turn: string,
  first: TurnEvent,
  told: AsyncIterator<TurnEvent>,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent> {
  let last = first;
  yield first;
  for (let next = await told.next(); !next.done; next = await told.next()) {
    last = next.value;
    yield last;
  }
  if (isEnd(last)) return;
  for await (const followed of followTurn(session, turn, { log: turn, n: last.n }, signal)) {
    if (followed !== "idle") yield followed.event;
  }
}

/** Has the session's object run it: nobody waits. */
function alone({ deps, env }: Call): Run {
  return async (contextId, request) => {
    const turn = await deps.startInBackground(env, request);
    if (turn === null)
      throw new UnsupportedOperationError("Another answer came first, and the task goes on with that.");
    return { contextId, turn, events: null };
  };
}

/** The turn of a message has begun, and whoever wants to know what becomes of it will. */
async function begin(call: Call, incoming: Incoming, run: Run): Promise<Begun> {
  const { push } = incoming;
  if (push !== null) checkPush(call, push);
  const begun = await beginTurn(call, incoming, run);
  if (push !== null) await createPush(call, { ...push, taskId: taskId(begun) }, true);
  return begun;
}

/** Starts a turn, or has one go on that waits for what the message answers. */
function beginTurn(call: Call, incoming: Incoming, run: Run): Promise<Begun> {
  if (incoming.taskId !== null) return goOn(call, incoming, incoming.taskId, run);
  const { owner, agent, now } = call;
  const { content, blobs, message } = incoming;
  const contextId = incoming.contextId ?? derivedContext(owner.id, agent.name, message, now());
  const sent = fingerprint(message);
  const once = { key: `a2a ${sent}`, body: sent, repeated: false };
  const request = plainRequest({ ...whose(call, message, contextId), once }, content);
  return run(contextId, { ...request, user: { content, blobs } }, null);
}

/** A task that waits goes on with its answer, unless it waits for another one still. All others take no message. */
async function goOn(call: Call, incoming: Incoming, id: string, run: Run): Promise<Begun> {
  const { contextId, turn, record } = await findTask(call, id, true);
  const open = waitsFor(record);
  if (open.length === 0) {
    const what = isOver(record.state) ? `is over (${record.state})` : "is still at work";
    throw new UnsupportedOperationError(
      `The task ${id} ${what}. Start a new task in its conversation: send contextId ${contextId} without taskId.`,
    );
  }
  const { message } = incoming;
  const answers = readAnswers(message, open);
  const deps = { ...call.deps, goOn: (request: TurnRequest) => run(contextId, request, turn) };
  for (const { pause, answer } of answers) {
    const begun = await answerPause(deps, call.env, whose(call, message, contextId), pause, answer);
    if (begun !== null) return begun;
  }
  return { contextId, turn, events: null };
}

function whose({ agent, owner, requestId, traceparent, place }: Call, message: Message, contextId: string) {
  const conversation = { id: contextId, minted: false };
  const host = new URL(place.root).host;
  const task = storedMessage({ ...message, contextId });
  return { agent, owner, conversation, requestId, traceparent, host, task };
}

async function record(call: Call, { contextId, turn }: Begun): Promise<TaskRecord> {
  const found = await readTask(sessionOf(call, contextId), turn, true);
  if (found === null) throw noSuchTask(taskId({ contextId, turn }));
  return found;
}
