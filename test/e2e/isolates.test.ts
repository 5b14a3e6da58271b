import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, type AnswerRequest, call, type RecordedRequest, say } from "../emulators/anthropic/index.ts";
import { declared, deferrals, expectAllExtend, expectValid, type Stage, startStage } from "./chat.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({}, { clones: 2 });
  const db = await stage.workerd.d1();
  await db.prepare("CREATE TABLE deferral_writes (session TEXT, value TEXT)").run();
  const counter = `CREATE TRIGGER count_deferrals AFTER UPDATE OF tool_deferrals ON sessions
    BEGIN INSERT INTO deferral_writes VALUES (new.conversation, new.tool_deferrals); END`;
  await db.prepare(counter).run();
});
afterAll(() => stage.close());

/** Everything that was ever written into D1's column for a conversation. */
async function writes(conversation: string): Promise<string[]> {
  const query = "SELECT value FROM deferral_writes WHERE session = ? ORDER BY rowid";
  const { results } = await (await stage.workerd.d1()).prepare(query).bind(conversation).all<{ value: string }>();
  return results.map(({ value }) => value);
}

test("two warm isolates answer one conversation in turn, and see the same tools", async () => {
  const requests: RecordedRequest[] = [];
  const turn = async (isolate: number, ...answers: Answer[]) => {
    stage.model.script(...answers);
    const reply = await stage.say("shared", `in ${isolate}`, { isolate });
    expect(reply.error).toBeNull();
    requests.push(...stage.takeRequests());
    return reply.headers.get("x-holdfast-prefix");
  };
  expect(await turn(1, call("tool_search", { query: "weather" }), say("Loaded."))).toBe("first");
  expect(await turn(2, call("weather"), call("tool_search", { query: "convert" }), say("Both."))).toBe("extends");
  expect(await turn(1, [call("convert"), call("weather")], say("Used."))).toBe("extends");
  expect(await turn(0, call("convert"), say("Here too."))).toBe("extends");
  expect(await turn(2, say("Still."))).toBe("extends");
  expectAllExtend(requests);
  expect(declared(requests.at(-1)).deferred).toEqual(["weather", "convert"]);
});

/** Loads and uses the tool that the user names, then says so. */
function byRequest({ lastUserText, toolResultsOfLastMessage: [result] }: AnswerRequest): Answer {
  const [, tool = ""] = lastUserText.split(" ");
  if (result === undefined) return call("tool_search", { query: tool });
  return result.name === "tool_search" ? call(tool, { text: lastUserText }) : say(`${tool} is used.`);
}

test("two warm isolates that race for one conversation take turns, and no turn loses what another loaded", async () => {
  const tools = ["weather", "convert", "colours", "dates", "roman", "tides"];
  stage.model.answer(byRequest);
  const said = tools.map((tool, index) => stage.say("race", `use ${tool}`, { isolate: 1 + (index % 2) }));
  const replies = await Promise.all(said);
  expect(replies.map(({ status, text }) => [status, text])).toEqual(tools.map((tool) => [200, `${tool} is used.`]));
  const requests = stage.takeRequests();
  expect(requests).toHaveLength(3 * tools.length);
  expectAllExtend(requests);
  expect(declared(requests.at(-1)).deferred.toSorted()).toEqual(tools.toSorted());
  await deferrals(stage, "race");
});

test("ten turns that end leave the deferrals alone", async () => {
  stage.model.script(call("tool_search", { query: "weather" }), say("Loaded."));
  await stage.say("finish", "load weather");
  const before = await deferrals(stage, "finish");
  const written = await writes("finish");
  for (let turn = 0; turn < 10; turn++) {
    stage.model.script(say(`Turn ${turn}.`));
    await stage.say("finish", `turn ${turn}`, { isolate: turn % 3 });
  }
  expect(await deferrals(stage, "finish")).toEqual(before);
  expect(await writes("finish")).toEqual(written);
  for (const request of stage.takeRequests()) expectValid(request);
});

test("ten calls with two loads write the column exactly three times", async () => {
  const turns: Answer[][] = [
    [call("clock"), say("One.")],
    [call("tool_search", { query: "weather" }), call("weather"), say("Two.")],
    [call("clock"), say("Three.")],
    [[call("tool_search", { query: "convert" }), call("fail")], call("convert"), say("Four.")],
  ];
  expect(turns.flat()).toHaveLength(10);
  const values = new Set<string>();
  for (const [index, answers] of turns.entries()) {
    stage.model.script(...answers);
    await stage.say("ten", `turn ${index}`, { isolate: index % 3 });
    values.add((await deferrals(stage, "ten")).value);
  }
  const requests = stage.takeRequests();
  expect(requests).toHaveLength(10);
  expectAllExtend(requests);
  expect(await writes("ten")).toEqual([...values]);
  expect(values.size).toBe(3);
  for (const value of values) expect(JSON.parse(value).initial).toEqual(declared(requests[0]).inline);
});
