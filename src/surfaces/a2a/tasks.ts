import type { ListTasksRequest, Task } from "@a2a-js/sdk";
import { TaskState as State } from "@a2a-js/sdk";
import { TaskNotCancelableError } from "@a2a-js/sdk/errors";
import { checkConversationId } from "../../http/conversation.ts";
import type { SessionApi } from "../../session/contract.ts";
import { follows, type TaskList, type TaskMark } from "../../session/task-list.ts";
import { followTurn } from "../../turn/follow.ts";
import { isOver, type TaskRecord, type TaskState } from "../../values/task.ts";
import { type Call, sessionOf } from "./call.ts";
import { malformed, noSuchTask } from "./errors.ts";
import { checkHistoryLength } from "./incoming.ts";
import { readPageToken, writePageToken } from "./page-token.ts";
import { parseTaskId } from "./task-id.ts";
import { taskView } from "./task-view.ts";

/** A task that was found, with its conversation. */
export interface Found {
  readonly contextId: string;
  readonly turn: string;
  readonly session: SessionApi;
  readonly record: TaskRecord;
}

/** The caller's own task of that id; throws -32001 where there is none, whoever else may have one. */
export async function findTask(call: Call, id: string, said: boolean): Promise<Found> {
  const name = parseTaskId(id);
  if (name === null) throw noSuchTask(id);
  const session = sessionOf(call, name.contextId);
  const record = await readTask(session, name.turn, said);
  if (record === null) throw noSuchTask(id);
  return { ...name, session, record };
}

export async function readTask(session: SessionApi, turn: string, said: boolean): Promise<TaskRecord | null> {
  return (await session.tasks([turn], said))?.[0] ?? null;
}

export async function getTask(call: Call, id: string, historyLength: number | undefined): Promise<Task> {
  const shown = { historyLength: checkHistoryLength(historyLength, "historyLength"), artifacts: true };
  const { contextId, record } = await findTask(call, id, true);
  return taskView(contextId, record, shown);
}

/** Stops a task, in whatever isolate it runs, and answers it once it stands still. One that was stopped stays so. */
export async function cancelTask(call: Call, id: string): Promise<Task> {
  const { contextId, session, turn, record } = await findTask(call, id, false);
  const shown = { historyLength: null, artifacts: true };
  if (isOver(record.state) && record.state !== "canceled") {
    throw new TaskNotCancelableError(`The task ${id} is over (${record.state}).`);
  }
  if (record.state !== "canceled") await session.stop();
  return taskView(contextId, await settled(session, turn), shown);
}

/** Longer than this nobody waits for a task that was told to stop: the answer then says that it still works. */
const STOP_MS = 10_000;

async function settled(session: SessionApi, turn: string): Promise<TaskRecord> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), STOP_MS);
  // Its events are of no interest: they end when the turn does.
  for await (const followed of followTurn(session, turn, null, patience.signal)) if (followed === "idle") continue;
  clearTimeout(timer);
  const record = await readTask(session, turn, true);
  if (record === null) throw new Error("a task is gone while it is stopped");
  return record;
}

const PAGE = { usual: 50, most: 100 } as const;

/** Tasks whose artifacts or messages are read in one call of a session. */
const AT_ONCE = 5;

/** A page of the caller's tasks, those whose state changed last first. */
export interface Listed {
  readonly tasks: Task[];
  readonly nextPageToken: string;
  readonly totalSize: number;
}

export async function listTasks(call: Call, request: ListTasksRequest): Promise<Listed> {
  const limit = request.pageSize ?? PAGE.usual;
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE.most) {
    throw malformed("pageSize", `is a whole number from 1 to ${PAGE.most}`);
  }
  const shown = {
    historyLength: checkHistoryLength(request.historyLength, "historyLength"),
    artifacts: request.includeArtifacts ?? false,
  };
  const state = stateAsked(request.status);
  const since = timestampAsked(request.statusTimestampAfter);
  const before = readPageToken(request.pageToken);
  const contextId = request.contextId === "" ? null : checkConversationId(request.contextId, "contextId");
  const { owner, agent, deps, env } = call;
  const query = { owner: owner.id, agent: agent.name, state: state ?? null, since, before, limit };
  const { marks, more, total } =
    state === undefined
      ? NONE
      : contextId === null
        ? await deps.listTasks(env.DB, query)
        : pageOf((await sessionOf(call, contextId).taskMarks()) ?? [], query);
  const tasks = await Promise.all(
    [...Map.groupBy(marks, ({ conversation }) => conversation)].map(async ([conversation, of]) => {
      const session = sessionOf(call, conversation);
      const records: TaskRecord[] = [];
      for (let at = 0; at < of.length; at += AT_ONCE) {
        const turns = of.slice(at, at + AT_ONCE).map(({ turn }) => turn);
        records.push(...((await session.tasks(turns, shown.artifacts)) ?? []));
      }
      return records.map((record) => ({ record, view: taskView(conversation, record, shown) }));
    }),
  );
  const last = marks.at(-1);
  return {
    // What D1 says of a task may be older than what its session says.
    tasks: tasks
      .flat()
      .filter(({ record }) => state === null || record.state === state)
      .toSorted((a, b) => (follows(a.record, b.record) ? 1 : -1))
      .map(({ view }) => view),
    nextPageToken: more && last !== undefined ? writePageToken(last) : "",
    totalSize: total,
  };
}

const NONE: TaskList = { marks: [], more: false, total: 0 };

interface PageQuery {
  readonly state: TaskState | null;
  readonly since: number;
  readonly before: Pick<TaskMark, "at" | "turn"> | null;
  readonly limit: number;
}

/** What `listTasks` answers, of marks that are all there. */
function pageOf(all: readonly TaskMark[], { state, since, before, limit }: PageQuery): TaskList {
  const asked = all
    .filter((mark) => mark.at >= since && (state === null || mark.state === state))
    .toSorted((a, b) => (follows(a, b) ? 1 : -1));
  const rest = before === null ? asked : asked.filter((mark) => follows(mark, before));
  return { marks: rest.slice(0, limit), more: rest.length > limit, total: asked.length };
}

/** The state a list is asked for; null for all, undefined for one that no task of ours has. */
function stateAsked(status: State): TaskState | null | undefined {
  switch (status) {
    case State.TASK_STATE_UNSPECIFIED:
      return null;
    case State.TASK_STATE_WORKING:
      return "working";
    case State.TASK_STATE_INPUT_REQUIRED:
      return "input_required";
    case State.TASK_STATE_COMPLETED:
      return "completed";
    case State.TASK_STATE_FAILED:
      return "failed";
    case State.TASK_STATE_CANCELED:
      return "canceled";
    case State.TASK_STATE_SUBMITTED:
    case State.TASK_STATE_REJECTED:
    case State.TASK_STATE_AUTH_REQUIRED:
      return undefined;
    default:
      throw malformed("status", "is none of the task states");
  }
}

function timestampAsked(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  const at = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw malformed("statusTimestampAfter", "is an ISO 8601 time such as 2026-11-30T12:00:00Z");
  return at;
}
