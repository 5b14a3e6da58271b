import type { TaskRecord, TaskState } from "../values/task.ts";
import type { TurnEnd } from "./contract.ts";
import { announce } from "./pushes.ts";
import { saidIn } from "./said.ts";
import type { SessionRow, Store } from "./store.ts";
import type { TaskMark } from "./task-list.ts";

/** What the session notes of a task: a message that came with it, or how it stands from then on. */
export interface TaskNote {
  readonly state: TaskState;
  readonly at: number;
  /** A message of its caller, as JSON text in the surface's own form. */
  readonly message?: string;
  /** Its user entry: the entries of its turn come from there on. */
  readonly from?: number;
  readonly failure?: string;
}

/** Notes how a turn stands, if it is a task. Belongs into the transaction that changes it. */
export function noteState(store: Store, rev: number, turn: string, note: TaskNote): void {
  if (!store.isTask(turn)) return;
  store.addTaskNote(rev, turn, note);
  if (note.state !== "working") announce(store, rev, turn, note.at);
}

/** Notes that a turn ended so, if it is a task. */
export function noteEnd(
  store: Store,
  rev: number,
  turn: string,
  status: SessionRow["status"],
  end: TurnEnd | undefined,
  at: number,
): void {
  const failure = end?.failure?.message;
  noteState(store, rev, turn, { state: taskState(status), at, ...(failure === undefined ? {} : { failure }) });
}

/** How a task stands whose turn's row says so. */
function taskState(status: SessionRow["status"]): TaskState {
  switch (status) {
    case "running":
      return "working";
    case "paused":
      return "input_required";
    case "done":
      return "completed";
    case "stopped":
      return "canceled";
    case "failed":
    case "refused":
      return "failed";
  }
}

/** How the session's tasks stand, the oldest first. */
export function taskMarks(store: Store, conversation: string): TaskMark[] {
  const marks = new Map<string, TaskMark>();
  for (const { turn, state, at } of store.taskNotes(null)) marks.set(turn, { conversation, turn, state, at });
  return [...marks.values()];
}

/** The session's tasks among these turns, in their order. */
export function tasksOf(store: Store, turns: readonly string[], said: boolean): TaskRecord[] {
  return turns.flatMap((turn) => {
    const notes = [...store.taskNotes(turn)];
    return notes.length === 0 ? [] : [recordOf(store, turn, notes, said)];
  });
}

function recordOf(store: Store, turn: string, notes: readonly TaskNote[], said: boolean): TaskRecord {
  const [first] = notes;
  const last = notes.at(-1);
  if (first === undefined || last === undefined) throw new Error(`nothing is noted of the task ${turn}`);
  return {
    turn,
    state: last.state,
    createdAt: first.at,
    at: last.at,
    failure: last.failure ?? null,
    messages: notes.flatMap(({ message }) => message ?? []),
    said: said ? saidIn(turn, store.entries((first.from ?? 1) - 1)) : [],
  };
}
