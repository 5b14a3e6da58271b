import type { StreamResponse } from "@a2a-js/sdk";
import { UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { followTurn } from "../../turn/follow.ts";
import { isOver } from "../../values/task.ts";
import type { Call } from "./call.ts";
import { ending } from "./send.ts";
import { TaskStream } from "./task-stream.ts";
import { taskView } from "./task-view.ts";
import { findTask, readTask } from "./tasks.ts";

/**
 * Tells a task from its start, in whatever isolate it runs, and follows it until it is over or waits: what a stream told
 * that was cut, and what it would have told. Throws -32004 for a task that is over: nothing more will come.
 */
export async function* subscribe(call: Call, id: string): AsyncGenerator<StreamResponse, void, undefined> {
  const { contextId, turn, session, record } = await findTask(call, id, false);
  if (isOver(record.state)) throw new UnsupportedOperationError(`The task ${id} is over (${record.state}).`);
  const task = taskView(contextId, record, { historyLength: null, artifacts: false });
  yield { payload: { $case: "task", value: task } };
  const stream = new TaskStream(task, 0);
  for await (const followed of followTurn(session, turn, null, call.signal)) {
    if (followed !== "idle") yield* stream.take(followed.event);
  }
  const now = await readTask(session, turn, true);
  if (now !== null) yield ending(contextId, now);
}
