import { expect, test } from "vitest";
import type { ChainOpening, ChainWrite, SessionId } from "../../src/session/contract.ts";
import { nodeSession } from "../../src/testing/node-session.ts";
import { beginRequest, callRecord, item, MODEL, user } from "./session.ts";

const id: SessionId = { owner: "ada", agent: "assistant", conversation: "marks" };

/** A session in process, and what appends to its chain. */
function session() {
  const one = nodeSession({ now: () => 0 });
  let turns = 0;
  const turn = async (chain: Partial<ChainWrite>, call = {}) => {
    turns += 1;
    const name = `t${turns}`;
    const start = await one.begin(beginRequest({ id }, { turn: name, user: user(`hello ${turns}`, name) }));
    if (start.kind !== "go") throw new Error(start.kind);
    const common = { v: 1, fence: start.fence, turn: name, step: 1, firstSeq: start.lastSeq + 1, entries: [] } as const;
    const write = { key: MODEL, epoch: 1, open: null, deferred: [], items: [], ...chain };
    await one.append({ ...common, kind: "before", chain: write });
    const marks = await one.marks(start.fence, MODEL);
    await one.append({ ...common, kind: "finish", call: callRecord(name, call), end: { status: "done" } });
    return { start, marks };
  };
  return { one, turn };
}

const prefix = { settings: "s", tools: ["t0", "t1"], system: ["y"] };
const opening: ChainOpening = { verdict: { prefix: "first" }, revision: 1, prefix: "{}", base: null };

test("marks come back in the order of what they mark, from the epoch an epoch goes on from too", async () => {
  const { turn } = session();
  const items = ["a", "b"].map((bytes) => item(1, bytes));
  const first = await turn({
    open: { ...opening, marks: prefix },
    ...{ deferred: ['"d"'], items, marks: { deferred: ["D"], items: ["A", "B"] } },
  });
  expect(first.marks).toEqual({ prefix, deferred: ["D"], items: ["A", "B"] });
  const second = await turn({ items: [item(2, "c")], marks: { deferred: [], items: ["C"] } });
  expect(second.marks).toEqual({ prefix, deferred: ["D"], items: ["A", "B", "C"] });
  const again = { ...prefix, tools: ["t0"] };
  const third = await turn({
    epoch: 2,
    open: { ...opening, base: { epoch: 1, items: 1 }, marks: again },
    ...{ deferred: ['"e"'], items: [item(3, "d")], marks: { deferred: ["E"], items: ["X"] } },
  });
  expect(third.marks).toEqual({ prefix: again, deferred: ["E"], items: ["A", "X"] });
});

test("what a version without marks stored stands as unmarked, each in its place", async () => {
  const { one, turn } = session();
  const old = await turn({ open: opening, deferred: ['"d"'], items: [item(1, "a"), item(1, "b")] });
  expect(old.marks).toEqual({ prefix: null, deferred: [""], items: ["", ""] });
  const next = await turn({ items: [item(2, "c")], marks: { deferred: [], items: ["C"] } });
  expect(next.marks).toEqual({ prefix: null, deferred: [""], items: ["", "", "C"] });
  expect(await one.marks(next.start.fence - 1, MODEL)).toBeNull();
  expect(await one.marks(next.start.fence, "another")).toBeNull();
});

test("a turn knows the chain's last answer, in whichever epoch, and not one that never came", async () => {
  const { one, turn } = session();
  const { start } = await turn({ open: opening, items: [item(1, "a")] }, { message: "msg_1" });
  expect(start.message).toBeNull();
  expect((await turn({}, { answered: false })).start.message).toBe("msg_1");
  expect((await turn({ epoch: 2, open: opening }, { message: "msg_3", epoch: 2 })).start.message).toBe("msg_1");
  expect((await turn({ epoch: 2 }, { epoch: 2 })).start.message).toBe("msg_3");
  const asked = { turn: "t9", user: user("hello 9", "t9"), chain: { model: "another", perMode: false } };
  expect(await one.begin(beginRequest({ id }, asked))).toMatchObject({ message: null });
});
