import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, call, type RecordedRequest, say, think } from "../emulators/anthropic/index.ts";
import { declared, deferrals, expectAllExtend, loadedAt, type Stage, startStage } from "./chat.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({ SETTINGS: '{"thinking":true}' });
});
afterAll(() => stage.close());

const CORE = ["clock", "install", "fail", "destroy", "picture", "marker", "wait", "once", "tool_search"];

/** Bodies without what is random (ids of host searches and messages, signatures) and what the frozen instructions say of the time. */
function comparable(requests: readonly RecordedRequest[]): string[] {
  const ids: string[] = [];
  const known = (id: string) => {
    if (!ids.includes(id)) ids.push(id);
    return `hfs_${ids.indexOf(id)}`;
  };
  return requests.map(({ bodyText }) =>
    bodyText
      .replaceAll(/hfs_[0-9a-f]{24}/g, known)
      .replaceAll(/"msg_[0-9a-f]+"/g, '"msg_"')
      .replaceAll(/"signature":"[^"]*"/g, '"signature":""')
      .replaceAll(/It is \d+\./g, "It is late."),
  );
}

test("a tool that appears after a call is deferred at that call, before and after the process ends", async () => {
  await stage.workerd.fresh({ LATE: "" });
  stage.model.script(call("install", { name: "mcp_hello" }, "call_1"), say("Installed."));
  const first = await stage.say("reload", "install hello");
  expect(first.error).toBeNull();
  expect(first.text).toBe("Installed.");
  expect(first.headers.get("x-holdfast-prefix")).toBe("first");
  const requests = stage.takeRequests();
  expect(requests).toHaveLength(2);
  expect(declared(requests[0])).toEqual({ inline: CORE, deferred: [] });
  expect(declared(requests[1])).toEqual({ inline: CORE, deferred: ["mcp_hello"] });

  await stage.workerd.fresh({ LATE: "mcp_hello" });
  stage.model.script(call("mcp_hello", { text: "there" }), say("Said."));
  const second = await stage.say("reload", "say hello");
  expect(second.text).toBe("Said.");
  expect(second.headers.get("x-holdfast-prefix")).toBe("extends");
  requests.push(...stage.takeRequests());
  expect(declared(requests[2])).toEqual({ inline: CORE, deferred: ["mcp_hello"] });
  expectAllExtend(requests);
  expect(Object.keys(loadedAt(requests[3]))).toEqual(["mcp_hello"]);
  expect(loadedAt(requests[3])).toEqual(loadedAt(requests[1]));
});

/** A turn of the scripted conversation, and the tools that are there since another session installed them. */
interface Turn {
  readonly text: string;
  readonly late: readonly string[];
  readonly answers: readonly Answer[];
}

const TURNS: readonly Turn[] = [
  { text: "hello", late: [], answers: [[think("greet"), say("Hello.")]] },
  {
    text: "weather and time",
    late: ["late_one"],
    answers: [
      [think("search"), call("tool_search", { query: "weather" }, "call_1"), call("clock", "{}", "call_2")],
      [
        call("weather", '{"text": "rain\\ud83d", "2": 1e400, "1": 12345678901234567890, "__proto__": {}}', "call_3"),
        call("fail", {}, "call_4"),
      ],
      [think("done"), say("Rain.")],
    ],
  },
  {
    text: "draw and use the late one",
    late: ["late_one"],
    answers: [[call("picture", {}, "call_5"), call("late_one", { text: "é ☃" }, "call_6")], say("Drawn.")],
  },
  {
    text: "one more",
    late: ["late_one", "late_two"],
    answers: [
      [call("tool_search", { query: "weather, convert" }, "call_7"), call("late_two", {}, "call_8")],
      call("tool_search", { query: "weather" }, "call_9"),
      say("All there."),
    ],
  },
];

let installs = 0;

/** Installs a tool in the isolate, by another session. */
async function install(name: string): Promise<void> {
  stage.model.script(call("install", { name }), say("Installed."));
  await stage.say(`install-${name}-${++installs}`, "install it");
  stage.takeRequests();
}

async function play(conversation: string, { text, answers }: Turn): Promise<RecordedRequest[]> {
  stage.model.script(...answers);
  expect((await stage.say(conversation, text)).error).toBeNull();
  const requests = stage.takeRequests();
  expect(requests).toHaveLength(answers.length);
  return requests;
}

/** The whole conversation in one isolate. */
async function playWarm(conversation: string): Promise<RecordedRequest[]> {
  const requests: RecordedRequest[] = [];
  const here = new Set<string>();
  for (const turn of TURNS) {
    for (const name of turn.late.filter((late) => !here.has(late))) await install(name);
    for (const name of turn.late) here.add(name);
    requests.push(...(await play(conversation, turn)));
  }
  return requests;
}

test("a conversation gives the same bytes in one warm isolate as in a fresh one for every turn", async () => {
  await stage.workerd.fresh({ LATE: "" });
  const warm = await playWarm("warm");
  const cold: RecordedRequest[] = [];
  for (const turn of TURNS) {
    await stage.workerd.fresh({ LATE: turn.late.join(",") });
    cold.push(...(await play("cold", turn)));
  }
  expectAllExtend(warm);
  expectAllExtend(cold);
  expect(comparable(cold)).toEqual(comparable(warm));
  expect(Object.keys(loadedAt(warm.at(-1)))).toEqual(["late_one", "weather", "late_two", "convert"]);
});

test("an object whose storage was wiped between turns rebuilds from D1 and sends what a warm one sends", async () => {
  await stage.workerd.fresh({ LATE: "" });
  const kept = await playWarm("kept");
  const wiped: RecordedRequest[] = [];
  let before: string | null = null;
  for (const turn of TURNS) {
    await stage.workerd.wipeObjects({ LATE: turn.late.join(",") });
    // A look is enough for the object to rebuild itself.
    const there = await stage.object("wiped", "summary");
    expect(there === null ? null : (await deferrals(stage, "wiped")).value).toBe(before);
    wiped.push(...(await play("wiped", turn)));
    before = (await deferrals(stage, "wiped")).value;
  }
  expectAllExtend(wiped);
  expect(comparable(wiped)).toEqual(comparable(kept));
});
