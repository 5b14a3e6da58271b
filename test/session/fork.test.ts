import { afterAll, beforeAll, expect, test } from "vitest";
import { SessionClient } from "../../src/session/client.ts";
import type { SessionRpc } from "../../src/session/contract.ts";
import { nodeSession } from "../../src/testing/node-session.ts";
import { startWorkerd, type Workerd } from "../workerd.ts";
import { append, assistant, begin, callRecord, item, MODEL, say, session, user } from "./session.ts";

let workerd: Workerd;
beforeAll(async () => {
  workerd = await startWorkerd({ entry: "test/session/worker.ts" });
});
afterAll(() => workerd.dispose());

const ENTRIES = 1_000;

/** A session of a thousand entries, all of them sent in one request. */
async function long(one: ReturnType<typeof session>): Promise<void> {
  const seed = Array.from({ length: ENTRIES / 2 - 1 }, (_, n) => [
    user(`question ${n}`, "t0"),
    assistant("t0", [say(`answer ${n}`)]),
  ]).flat();
  const start = await begin(one, { seed, user: user("the last one") });
  await append(one, start, {
    entries: [assistant("t1", [say("done")])],
    deferrals: '{"initial":["clock","tool_search"],"loadPoints":{}}',
    chain: {
      ...{ key: MODEL, epoch: 1, deferred: ['{"name":"weather"}'] },
      open: { verdict: { prefix: "first" }, revision: 1, prefix: '{"tools":[ ]}', base: null },
      items: start.entries.map(([seq, text]) => item(seq, text)),
    },
    call: callRecord("t1", { end: ENTRIES - 2, items: ENTRIES - 1 }),
  });
}

test("a fork of a thousand entries is one batch for D1, of few statements", async () => {
  const one = session(workerd, "long");
  await long(one);
  const answer = await one.branch({ v: 1, at: ENTRIES / 2 - 2, of: "fork" });
  if (answer?.kind !== "branch") throw new Error("no branch");
  expect(answer.branch.entries).toHaveLength(ENTRIES - 4);
  const fork = session(workerd, "fork");
  await fork.adopt(fork.id, answer.branch);
  await fork.flushed();
  const statements = await fork.statements();
  expect(statements.length).toBeLessThanOrEqual(12);
  expect(statements.filter((statement) => statement.includes("INSERT INTO entries"))).toHaveLength(1);

  await workerd.wipeObjects();
  const next = await begin(fork, { turn: "t2", user: user("go on", "t2"), minted: false });
  expect(next.chain?.items).toHaveLength(ENTRIES - 4);
  expect(next).toMatchObject({ broken: null, entries: [[ENTRIES - 3, user("go on", "t2")]] });
});

test("copying is one call of each object, made again as a whole when its answer is lost", async () => {
  const calls: string[] = [];
  const objects = [nodeSession({ now: () => 1_000 }), nodeSession({ now: () => 1_000 })];
  let lost = true;
  const client = (n: number) => {
    const of = objects[n] as unknown as SessionRpc;
    const stub = new Proxy(of, {
      get:
        (target, method: keyof SessionRpc) =>
        async (...args: unknown[]) => {
          calls.push(`${n} ${method}`);
          const answer = await Reflect.apply(target[method], target, args);
          if (method === "adopt" && lost) {
            lost = false;
            throw Object.assign(new Error("reset"), { durableObjectReset: true });
          }
          return answer;
        },
    });
    return new SessionClient({ getByName: () => stub }, `${n}`, async () => {});
  };
  const [from, to] = [client(0), client(1)];
  const id = { owner: "ada", agent: "assistant", conversation: "from" };
  await append(from, await begin({ id, ...bound(from) }), { entries: [assistant("t1", [say("hi")])] });
  calls.length = 0;
  const answer = await from.branch({ v: 1, at: null, of: "fork" });
  if (answer?.kind !== "branch") throw new Error("no branch");
  await to.adopt({ ...id, conversation: "to" }, answer.branch);
  expect(calls).toEqual(["0 branch", "1 adopt", "1 adopt"]);
  expect(await to.entries(0, 10)).toEqual(await from.entries(0, 10));
  expect((await to.summary())?.title).toBe("hello (fork 1)");
});

function bound(client: SessionClient) {
  return { begin: client.begin.bind(client), append: client.append.bind(client) };
}
