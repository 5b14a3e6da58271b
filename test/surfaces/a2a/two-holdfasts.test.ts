import { TaskState } from "@a2a-js/sdk";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { KEYS, type Stage, startStage } from "../../e2e/chat.ts";
import { type Hook, startHook } from "../../e2e/hook.ts";
import { call, say, tooLarge } from "../../emulators/anthropic/index.ts";
import { clientOf, collect, message, request, send, textOf } from "./clients.ts";

const entry = "test/surfaces/a2a/worker.ts";
let hook: Hook;
/** The one that is asked, and the one that asks it. */
let asked: Stage;
let asking: Stage;
beforeAll(async () => {
  hook = await startHook();
  asked = await startStage({ HOOK: hook.url, HOLDFAST_API_KEYS: `peer:${KEYS.ann}:agent` }, { entry });
  const remote = { REMOTE: asked.workerd.url.origin, REMOTE_KEY: KEYS.ann, HOLDFAST_ALLOW_LOOPBACK: "1" };
  asking = await startStage(remote, { entry });
});
beforeEach(() => {
  asked.model.reset();
  asking.model.reset();
});
afterAll(async () => {
  await asking.close();
  await asked.close();
  await hook.close();
});

/** The text of the newest results that the asking model was given. */
function lastResult(): string {
  const { bodyText } = asking.model.requests.at(-1) ?? { bodyText: "{}" };
  const { messages }: { messages: { content: { type: string; content?: { text?: string }[] }[] }[] } =
    JSON.parse(bodyText);
  const blocks = messages.at(-1)?.content ?? [];
  return blocks
    .flatMap(({ type, content = [] }) => (type === "tool_result" ? content.map(({ text }) => text) : []))
    .join("");
}

test("one asks the other, which answers", async () => {
  asking.model.script(call("booker", { message: "A trip to Rome." }), say("It is booked."));
  asked.model.script(call("clock"), say("Booked: Rome."));
  const task = await send(await clientOf(asking), message("Book me a trip to Rome."));
  expect(textOf(task)).toBe("It is booked.");
  expect(lastResult()).toBe("Booked: Rome.");
  expect(asked.model.requests[0]?.bodyText).toContain("A trip to Rome.");
});

test("a question of the other is a question of the one, and its answer goes back into the same task", async () => {
  const client = await clientOf(asking);
  asking.model.script(call("booker", { message: "A trip." }));
  asked.model.script(call("ask_city"), say("Booked: Oslo."));
  const waits = await send(client, message("Book me a trip."));
  expect(waits.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  expect(waits.status?.message?.parts[0]?.content?.value).toContain("Which city?");
  // The model is told what was asked, and by whom; what it does then is its own.
  asking.model.script(({ toolResultsOfLastMessage: [result] }) => {
    const [, taskId = ""] = /with task "([^"]+)"/.exec(result?.text ?? "") ?? [];
    return call("booker", { message: "Oslo", task: taskId });
  }, say("It is booked."));
  const { id: taskId, contextId } = waits;
  const done = await send(client, message("Oslo", { taskId, contextId }));
  expect(textOf(done)).toBe("It is booked.");
  expect(lastResult()).toBe("Booked: Oslo.");
  // Two turns of the one were one task of the other.
  const other = await clientOf(asked, { who: "ann" });
  const { tasks } = await other.listTasks({
    ...{ tenant: "", contextId: "", status: 0, pageToken: "", pageSize: 1, includeArtifacts: true },
    ...{ historyLength: undefined, statusTimestampAfter: undefined },
  });
  expect(tasks[0]?.history.map(({ role }) => role)).toEqual([1, 2, 1]);
});

test("in one session all messages go to one conversation with the other", async () => {
  const client = await clientOf(asking);
  asking.model.script(call("booker", { message: "One." }), say("1"), call("booker", { message: "Two." }), say("2"));
  asked.model.script(say("First."), say("Second."));
  const first = await send(client, message("one"));
  await send(client, message("two", { contextId: first.contextId }));
  expect(asked.model.requests[1]?.bodyText).toContain("One.");
  expect(asked.model.requests[1]?.bodyText).toContain("First.");
});

test("what the other reports is the one's progress, and stopping the one stops the other", async () => {
  const client = await clientOf(asking);
  asking.model.script(call("booker", { message: "Wait." }));
  asked.model.script(call("wait"));
  const started = await send(client, message("Wait for it."), { returnImmediately: true });
  const running = await hook.next();
  const lines: unknown[] = [];
  for await (const { payload } of client.resubscribeTask({ tenant: "", id: started.id })) {
    if (payload?.$case !== "statusUpdate") continue;
    lines.push(...(payload.value.status?.message?.parts ?? []).map(({ content }) => content?.value));
    if (lines.includes("waiting")) break;
  }
  const stopped = await client.cancelTask({ tenant: "", id: started.id, metadata: undefined });
  expect(stopped.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  expect(await running.over).toBe("left");
});

test("a failure of the other is a failed call of the one, and its turn goes on", async () => {
  asking.model.script(call("booker", { message: "Fail." }), say("It could not."));
  asked.model.fail(tooLarge());
  const task = await send(await clientOf(asking), message("Try."));
  expect(textOf(task)).toBe("It could not.");
  expect(lastResult()).toContain("The agent failed.");
});

test("one that can't be reached is a failed call as well", async () => {
  const alone = await startStage({ REMOTE: "http://127.0.0.1:9", HOLDFAST_ALLOW_LOOPBACK: "1" }, { entry });
  alone.model.script(call("booker", { message: "Hello?" }), say("Nobody is there."));
  expect(textOf(await send(await clientOf(alone), message("Try.")))).toBe("Nobody is there.");
  await alone.close();
});

test("an owner with the role agent never has a destructive tool run, even where its agent allows that", async () => {
  const bold = await clientOf(asked, { agent: "bold" });
  asked.model.script(call("wipe"), say("It is refused."));
  await send(bold, message("Wipe all."));
  expect(asked.model.requests.at(-1)?.bodyText).toContain("The tool wipe is destructive");
  asking.model.script(call("wipe"), say("Wiped."));
  await send(await clientOf(asking, { agent: "bold" }), message("Wipe all."));
  expect(lastResult()).toBe("wiped");
});

test("a stream is asked for again where it was cut", async () => {
  asking.model.script(call("booker", { message: "A long one." }), say("Got it."));
  asked.model.script([say("One."), call("wait")], say("Two."));
  const result = collect((await clientOf(asking)).sendMessageStream(request(message("Ask for a long one."))));
  (await hook.next()).answer("ok");
  await result;
  expect(lastResult()).toBe("One.\n\nTwo.");
});
