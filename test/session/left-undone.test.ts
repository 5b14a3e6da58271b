import { readdirSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { Session } from "../../src/session/session.ts";
import { nodeStorage } from "../../src/testing/node-storage.ts";
import { nodeD1 } from "../node-d1.ts";
import { append, assistant, begin, say, user } from "./session.ts";

const ID = { owner: "ada", agent: "assistant", conversation: "kept" };
const HOUR_MS = 3_600_000;

/** One session over objects that follow each other: `object` makes the next one, whose D1 answers or hangs for good. */
function stage() {
  const db = new DatabaseSync(":memory:");
  for (const file of readdirSync("migrations").sort()) db.exec(readFileSync(`migrations/${file}`, "utf8"));
  const storage = nodeStorage();
  const answers = nodeD1(db);
  let now = 1_000_000;
  let armed: number | null = null;
  let asked = () => {};
  const hung = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const hangs = new Proxy(answers, {
    get(target, name) {
      if (name === "withSession") return () => hangs;
      if (name !== "batch") return Reflect.get(target, name, target);
      return () => {
        asked();
        return new Promise(() => {});
      };
    },
  });
  const object = (d1: "answers" | "hangs") => {
    const session = new Session({
      storage,
      db: d1 === "answers" ? answers : hangs,
      name: JSON.stringify([ID.owner, ID.agent, ID.conversation]),
      waitUntil: (work) => void work.catch(() => {}),
      setAlarm: async (due) => {
        armed = due;
      },
      now: () => now,
    });
    return Object.assign(session, { id: ID });
  };
  return {
    object,
    hung,
    pass: (ms: number) => {
      now += ms;
    },
    /** Rings what is armed, each time in another object, until nothing is; at most ten times. */
    async alarms() {
      for (let rung = 0; armed !== null && rung < 10; rung++) {
        now = Math.max(now, armed);
        armed = null;
        await object("answers").alarm();
      }
    },
    rows: (table: "sessions" | "entries") =>
      db.prepare(`SELECT count(*) AS n FROM ${table} WHERE rev > 0`).get()?.n as number,
    title: () => db.prepare("SELECT title FROM sessions").get()?.title,
    live: () => db.prepare("SELECT count(*) AS n FROM sessions WHERE deleted_at IS NULL").get()?.n as number,
  };
}

async function oneTurn(session: ReturnType<ReturnType<typeof stage>["object"]>, keepMs?: number): Promise<void> {
  const start = await begin(session, { turn: "t1", user: user("hello", "t1"), ...(keepMs ? { keepMs } : {}) });
  await append(session, start, { entries: [assistant("t1", [say("hi")])] });
}

test("a turn whose object dies before it copied it to D1 is there after the alarm", async () => {
  const { object, hung, alarms, rows } = stage();
  await oneTurn(object("hangs"));
  await hung;
  expect(rows("entries")).toBe(0);
  await alarms();
  expect([rows("sessions"), rows("entries")]).toEqual([1, 2]);
});

test("what an owner changed is there after the alarm, though the object dies before it copied it", async () => {
  const { object, hung, alarms, pass, title } = stage();
  const first = object("answers");
  await oneTurn(first);
  await first.flushed();
  await alarms();
  pass(HOUR_MS);
  const second = object("hangs");
  await second.patch({ v: 1, title: "Another title" });
  await hung;
  expect(title()).toBe("hello");
  await alarms();
  expect(title()).toBe("Another title");
});

test.each(["retention", "its owner"])(
  "a session whose object dies while it is deleted by %s is buried all the same",
  async (by) => {
    const { object, hung, alarms, pass, rows, live } = stage();
    const first = object("answers");
    await oneTurn(first, HOUR_MS);
    await first.flushed();
    expect([rows("entries"), live()]).toEqual([2, 1]);
    pass(HOUR_MS + 1);
    const second = object("hangs");
    void (by === "retention" ? second.alarm() : second.remove());
    await hung;
    await alarms();
    expect([rows("entries"), live()]).toEqual([0, 0]);
    expect(await object("answers").summary()).toBeNull();
  },
);
