import type { ListTasksRequest } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Stage, startStage } from "../../e2e/chat.ts";
import { call, say } from "../../emulators/anthropic/index.ts";
import { clientOf, message, send, textOf } from "./clients.ts";

let stage: Stage;
let client: Client;
let rest: Client;
/** The ids of five tasks in two conversations, the oldest first; the last one waits. */
const ids: string[] = [];
let contexts: readonly [string, string] = ["", ""];
beforeAll(async () => {
  stage = await startStage({}, { entry: "test/surfaces/a2a/worker.ts" });
  client = await clientOf(stage);
  rest = await clientOf(stage, { binding: "HTTP+JSON" });
  stage.model.script(say("1"), say("2"), say("3"), say("4"), call("ask_city"));
  const one = await send(client, message("one"));
  const two = await send(client, message("two"));
  contexts = [one.contextId, two.contextId];
  ids.push(one.id, two.id);
  for (const contextId of [contexts[0], contexts[1], contexts[0]]) {
    ids.push((await send(client, message("more", { contextId }))).id);
  }
});
afterAll(() => stage.close());

const ALL: ListTasksRequest = {
  tenant: "",
  contextId: "",
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageSize: undefined,
  pageToken: "",
  historyLength: undefined,
  statusTimestampAfter: undefined,
  includeArtifacts: undefined,
};

const listed = async (asked: Partial<ListTasksRequest> = {}, of = client) => {
  const { tasks, nextPageToken, totalSize, pageSize } = await of.listTasks({ ...ALL, ...asked });
  expect(pageSize).toBe(tasks.length);
  return { ids: tasks.map(({ id }) => id), tasks, nextPageToken, totalSize };
};

test("all tasks of an owner are listed at once, those that changed last first, without their artifacts", async () => {
  for (const of of [client, rest]) {
    const all = await listed({}, of);
    expect(all.ids).toEqual(ids.toReversed());
    expect(all).toMatchObject({ nextPageToken: "", totalSize: 5 });
    expect(all.tasks.map(textOf).join("")).toBe("");
    expect(all.tasks[0]?.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  }
});

test("with their artifacts, if they are asked for", async () => {
  const { tasks } = await listed({ includeArtifacts: true, historyLength: 0 });
  expect(tasks.map(textOf)).toEqual(["", "4", "3", "2", "1"]);
  expect(tasks.flatMap(({ history }) => history)).toEqual([]);
});

test("of one conversation, and of one state", async () => {
  expect((await listed({ contextId: contexts[1] })).ids).toEqual([ids[3], ids[1]]);
  for (const contextId of ["", contexts[0]]) {
    const waiting = await listed({ contextId, status: TaskState.TASK_STATE_INPUT_REQUIRED });
    expect(waiting).toMatchObject({ ids: [ids[4]], totalSize: 1 });
    expect(await listed({ contextId, status: TaskState.TASK_STATE_FAILED })).toMatchObject({ ids: [], totalSize: 0 });
    expect(await listed({ contextId, status: TaskState.TASK_STATE_REJECTED })).toMatchObject({ ids: [], totalSize: 0 });
  }
  expect((await listed({ contextId: "nothing" })).ids).toEqual([]);
});

test("since a time", async () => {
  const { tasks } = await listed();
  const statusTimestampAfter = tasks[1]?.status?.timestamp;
  for (const contextId of ["", contexts[1]]) {
    const since = await listed({ contextId, statusTimestampAfter });
    expect(since.ids).toEqual(contextId === "" ? ids.slice(3).toReversed() : [ids[3]]);
  }
});

test("a page at a time, each once", async () => {
  for (const contextId of ["", contexts[0]]) {
    const pages: string[] = [];
    let pageToken = "";
    do {
      const page = await listed({ contextId, pageSize: 2, pageToken });
      expect(page.ids.length).toBeLessThanOrEqual(2);
      pages.push(...page.ids);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    expect(pages).toEqual((await listed({ contextId })).ids);
  }
});

test("another owner has none of them", async () => {
  const bob = await clientOf(stage, { who: "bob" });
  expect(await listed({}, bob)).toMatchObject({ ids: [], totalSize: 0 });
  expect(await listed({ contextId: contexts[0] }, bob)).toMatchObject({ ids: [], totalSize: 0 });
});

test.for<Partial<ListTasksRequest>>([
  { pageSize: 0 },
  { pageSize: 101 },
  { pageSize: -1 },
  { pageToken: "nonsense" },
  { statusTimestampAfter: "yesterday" },
  { historyLength: -1 },
  { contextId: "a/b" },
])("%j is refused", async (asked) => {
  await expect(client.listTasks({ ...ALL, ...asked })).rejects.toThrow();
});
