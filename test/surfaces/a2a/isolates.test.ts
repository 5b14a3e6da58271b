import { type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { declared, expectAllExtend, loadedAt, type Stage, startStage } from "../../e2e/chat.ts";
import { type Hook, startHook } from "../../e2e/hook.ts";
import { type Answer, call, createParking, parkAt, say } from "../../emulators/anthropic/index.ts";
import type { Exchange } from "../../emulators/common/exchange.ts";
import { clientOf, collect, message, played, request, send, textOf } from "./clients.ts";

let hook: Hook;
let stage: Stage;
/** A client for each of three isolates; only the first holds the sessions' objects. */
let clients: Client[];
beforeAll(async () => {
  hook = await startHook();
  const bindings = { HOOK: hook.url, HOLDFAST_LEASE_SECONDS: "1" };
  stage = await startStage(bindings, { entry: "test/surfaces/a2a/worker.ts", clones: 2 });
  clients = await Promise.all([0, 1, 2].map((isolate) => clientOf(stage, { isolate })));
});
afterEach(() => stage.model.reset());
afterAll(async () => {
  await stage.close();
  await hook.close();
});

const client = (isolate: number): Client => clients[isolate] ?? raise();
const raise = (): never => {
  throw new Error("there is no such isolate");
};
const named = (id: string) => ({ tenant: "", id });

/** A task that two calls hold up, with text around them. */
const HELD: readonly Answer[] = [[say("One."), call("wait")], [say("Two."), call("wait")], say("Three.")];

/** An event without what differs from one task to the next: ids, times, and how a text is cut into pieces. */
function shape(task: Task): unknown {
  return {
    state: task.status?.state,
    history: task.history.map(({ role, parts }) => [role, parts.map(({ content }) => content?.value)]),
    artifacts: task.artifacts.map(({ name, parts }) => [name, textOf({ artifacts: [{ parts } as never] })]),
  };
}

test("a session sends the same tools, deferred at the same load points, over A2A turns each in a fresh isolate", async () => {
  // A stage of its own: each turn has a new process, and the other isolates would be started with it for nothing.
  const stage = await startStage({}, { entry: "test/surfaces/a2a/worker.ts" });
  const turns: readonly (readonly Answer[])[] = [
    [call("tool_search", { query: "weather" }), call("weather"), say("Rain.")],
    [call("weather"), say("Still rain.")],
    [call("clock"), say("Noon.")],
    [call("tides"), say("High.")],
    [call("weather"), call("tides"), say("Both.")],
  ];
  let contextId = "";
  for (const [index, answers] of turns.entries()) {
    // From the fourth turn on there is a tool that the session did not begin with.
    if (index > 0) await stage.workerd.fresh({ LATE: index >= 3 ? "tides" : "" });
    stage.model.script(...answers);
    const task = await send(await clientOf(stage), message(`turn ${index}`, { contextId }));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    contextId = task.contextId;
  }
  const { requests } = stage.model;
  expect(requests).toHaveLength(turns.flat().length);
  expectAllExtend(requests);
  const inline = ["clock", "ask_city", "wait", "wipe", "tool_search"];
  const weather = loadedAt(requests[1]).weather;
  for (const [index, one] of requests.entries()) {
    const late = index >= 7 ? ["tides"] : [];
    expect(declared(one)).toEqual({ inline, deferred: [...(index > 0 ? ["weather"] : []), ...late] });
    if (index > 0) expect(loadedAt(one).weather).toBe(weather);
    if (index > 7) expect(loadedAt(one).tides).toBe(loadedAt(requests[7]).tides);
  }
  await stage.close();
});

test("one isolate starts a task, another follows it from its start, a third stops it", async () => {
  stage.model.script(...HELD);
  const started = await send(client(0), message("go"), { returnImmediately: true });
  expect(started.status?.state).toBe(TaskState.TASK_STATE_WORKING);
  await hook.next();
  const followed = collect(client(1).resubscribeTask(named(started.id)));
  const again = collect(client(2).resubscribeTask(named(started.id)));
  const before = Date.now();
  const stopped = await client(2).cancelTask({ ...named(started.id), metadata: undefined });
  expect(stopped.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  expect(Date.now() - before).toBeLessThan(5_000);
  expect(textOf(stopped)).toBe("One.");
  const events = await followed;
  expect(shape(played(events))).toEqual(shape(stopped));
  expect(shape(played(await again))).toEqual(shape(stopped));
  expect(await client(0).getTask(named(started.id))).toEqual(stopped);
  await expect(collect(client(1).resubscribeTask(named(started.id)))).rejects.toThrow("is over");
});

/** Reads so many events of a stream and leaves it. */
async function read(events: AsyncGenerator<StreamResponse, void, undefined>, count: number): Promise<StreamResponse[]> {
  const all: StreamResponse[] = [];
  while (all.length < count) {
    const { done, value } = await events.next();
    if (done) break;
    all.push(value);
  }
  await events.return();
  return all;
}

test("a stream that is cut after any event and subscribed to again comes to what the uncut one comes to", async () => {
  /** A task whose last answer holds before its end; `cut`: after so many events the stream is left. */
  const run = async (cut: number | null): Promise<{ task: Task; events: number }> => {
    const parking = createParking<Exchange>();
    stage.model.script([say("One."), call("clock")], [say("Two."), call("clock")], [say("3"), parkAt(4, parking)]);
    const stream = client(0).sendMessageStream(request(message("go on")));
    if (cut === null) {
      const whole = collect(stream);
      await parking.parked;
      parking.release();
      const events = await whole;
      return { task: played(events), events: events.length };
    }
    const [begun] = await read(stream, cut);
    if (begun?.payload?.$case !== "task") throw new Error("a stream begins with its task");
    const again = client(1 + (cut % 2)).resubscribeTask(named(begun.payload.value.id));
    const first = await again.next();
    await parking.parked;
    parking.release();
    const rest = await collect(again);
    return { task: played(first.done ? rest : [first.value, ...rest]), events: rest.length };
  };
  const whole = await run(null);
  const artifacts = [["answer", "One.\n\nTwo.\n\n3"]];
  expect(shape(whole.task)).toMatchObject({ state: TaskState.TASK_STATE_COMPLETED, artifacts });
  for (let cut = 1; cut < whole.events; cut++) {
    const { task } = await run(cut);
    expect(shape(task), `cut after event ${cut} of ${whole.events}`).toEqual(shape(whole.task));
  }
}, 60_000);

test("the same message sent twice is answered once, also from another isolate and without a context", async () => {
  stage.model.script(say("Once."));
  const asked = message("only once, please");
  const [one, two] = await Promise.all([send(client(0), asked), send(client(1), asked)]);
  expect(two.id).toBe(one.id);
  expect(await send(client(2), asked)).toEqual(one);
  expect(textOf(two)).toBe("Once.");
  expect(stage.model.requests).toHaveLength(1);
  // Another text under the same id is another message.
  stage.model.script(say("Twice."));
  const other = await send(client(0), { ...message("and again"), messageId: asked.messageId });
  expect(other.id).not.toBe(one.id);
});

test("a task that nobody waits for runs to its end, and another isolate sees it come", async () => {
  stage.model.script(...HELD);
  const started = await send(client(2), message("in the background"), { returnImmediately: true });
  (await hook.next()).answer("ok");
  const again = collect(client(1).resubscribeTask(named(started.id)));
  (await hook.next()).answer("ok");
  expect(shape(played(await again))).toMatchObject({
    state: TaskState.TASK_STATE_COMPLETED,
    artifacts: [["answer", "One.\n\nTwo.\n\nThree."]],
  });
});
