/** A task's id holds its conversation and its turn, so that a task is found without an index of them. */
export interface TaskName {
  readonly contextId: string;
  readonly turn: string;
}

const TURN = "turn_";
const TASK_ID = /^([A-Za-z0-9._:-]{1,128})\.([0-9a-f]{32})$/;

/** The id that clients know a turn by. */
export function taskId({ contextId, turn }: TaskName): string {
  return `${contextId}.${turn.slice(TURN.length)}`;
}

/** Reads back what {@link taskId} made; null for any other text, which is then the id of no task. */
export function parseTaskId(id: string): TaskName | null {
  const [, contextId, hex] = TASK_ID.exec(id) ?? [];
  return contextId === undefined || hex === undefined ? null : { contextId, turn: TURN + hex };
}
