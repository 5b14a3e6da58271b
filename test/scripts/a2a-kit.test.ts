import { afterAll, beforeAll, expect, test } from "vitest";
import { told } from "../../scripts/a2a/kit.ts";
import { startWorkerd, type Workerd } from "../workerd.ts";

let workerd: Workerd;
beforeAll(async () => {
  workerd = await startWorkerd({ entry: "scripts/a2a/worker.ts", bindings: { HOLDFAST_OPEN: "1" } });
});
afterAll(() => workerd.dispose());

test.for([
  ["tck-complete-task-1", "TASK_STATE_COMPLETED"],
  ["tck-artifact-text-1", "TASK_STATE_COMPLETED"],
  ["tck-input-required-1", "TASK_STATE_INPUT_REQUIRED"],
  ["anything else", "TASK_STATE_COMPLETED"],
])("the agent for the conformance kit makes of the message %s the state %s", async ([messageId, state]) => {
  const message = { messageId, role: "ROLE_USER", parts: [{ text: "hi" }] };
  const response = await workerd.fetch("/message:send", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message }),
  });
  const { task }: { task: { status: { state: string } } } = await response.json();
  expect(task.status.state).toBe(state);
});

test.for([
  "",
  "{",
  "[]",
  "null",
  '"x"',
  '{"message":5}',
  '{"params":{"message":{"messageId":"my-own","parts":[{"text":"a"}]}}}',
])("a body that is none of the kit's messages goes on as it came: %s", (body) => {
  expect(told(body)).toBe(body);
});
