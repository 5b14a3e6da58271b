import { Role, TaskState } from "@a2a-js/sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Stage, startStage } from "../../e2e/chat.ts";
import { call, say } from "../../emulators/anthropic/index.ts";
import { clientOf, collect, FLAVOURS, message, played, request, send, textOf } from "./clients.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({}, { entry: "test/surfaces/a2a/worker.ts", clones: 2 });
});
afterAll(() => stage.close());
beforeEach(() => stage.model.reset());

describe.for(FLAVOURS)("The SDK's client in $version over $binding", (flavour) => {
  test("sends a message and gets the finished task, which it can read again", async () => {
    const client = await clientOf(stage, flavour);
    stage.model.script(call("clock"), say("It is noon."));
    const asked = message("What time is it?");
    const task = await send(client, asked);
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(textOf(task)).toBe("It is noon.");
    expect(task.history.map(({ messageId }) => messageId)).toEqual([asked.messageId]);
    expect(await client.getTask({ tenant: "", id: task.id })).toEqual(task);
  });

  test("streams a task", async () => {
    const client = await clientOf(stage, flavour);
    stage.model.script(say("It is noon."));
    const events = await collect(client.sendMessageStream(request(message("And now?"))));
    expect(events.map(({ payload }) => payload?.$case)).toEqual([
      "task",
      ...events.slice(1, -1).map(() => "artifactUpdate"),
      "statusUpdate",
    ]);
    const task = played(events, flavour);
    expect(textOf(task)).toBe("It is noon.");
    const stored = await client.getTask({ tenant: "", id: task.id });
    expect(textOf(stored)).toBe("It is noon.");
    expect(stored.status).toEqual(task.status);
  });

  test("is asked in the middle of a task, answers, and the same task goes on", async () => {
    const client = await clientOf(stage, flavour);
    stage.model.script([say("Let me ask."), call("ask_city")], say("Rome it is."));
    const asked = await send(client, message("Book a trip."));
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const [question, data] = asked.status?.message?.parts ?? [];
    expect(question?.content).toEqual({ $case: "text", value: "Which city?\n- Rome\n- Oslo" });
    expect(data?.content?.value).toMatchObject({
      kind: "question",
      question: "Which city?",
      options: ["Rome", "Oslo"],
    });
    // Also behind what was said already, where older clients look for it.
    expect(asked.artifacts.at(-1)?.parts).toEqual([question, data]);
    const { id: taskId, contextId } = asked;
    const events = await collect(client.sendMessageStream(request(message("Rome", { taskId, contextId }))));
    const task = played(events, flavour);
    expect(task.id).toBe(taskId);
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    const stored = await client.getTask({ tenant: "", id: taskId });
    expect(stored.artifacts.map((one) => textOf({ artifacts: [one] }))).toEqual(["Let me ask.", "Rome it is."]);
    expect(task.artifacts.filter(({ name }) => name === "answer")).toEqual(stored.artifacts);
    expect(stored.history.map(({ role, parts }) => [role, parts[0]?.content?.value])).toEqual([
      [Role.ROLE_USER, "Book a trip."],
      [Role.ROLE_AGENT, "Which city?\n- Rome\n- Oslo"],
      [Role.ROLE_USER, "Rome"],
    ]);
  });

  test("cancels a task that waits for an answer, and one that is over it can't", async () => {
    const client = await clientOf(stage, flavour);
    stage.model.script(call("ask_city"), say("Hello."));
    const waiting = await send(client, message("Ask."));
    const canceled = await client.cancelTask({ tenant: "", id: waiting.id, metadata: undefined });
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    const again = await client.cancelTask({ tenant: "", id: waiting.id, metadata: undefined });
    expect(again).toEqual(canceled);
    const next = await send(client, message("Hello", { contextId: waiting.contextId }));
    expect(textOf(next)).toBe("Hello.");
    await expect(client.cancelTask({ tenant: "", id: next.id, metadata: undefined })).rejects.toThrow("is over");
  });

  test("goes on in a conversation with a second task", async () => {
    const client = await clientOf(stage, flavour);
    stage.model.script(say("One."), say("Two."));
    const first = await send(client, message("one"));
    const second = await send(client, message("two", { contextId: first.contextId }));
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
    expect(textOf(second)).toBe("Two.");
    expect(stage.model.requests.at(-1)?.bodyText).toContain("One.");
  });
});
