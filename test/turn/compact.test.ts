import { describe, expect, test } from "vitest";
import { SUMMARY_REQUEST } from "../../src/context/compaction.ts";
import { type AgentOptions, defineAgent } from "../../src/define/agent.ts";
import { lazy } from "../../src/define/lazy.ts";
import { defineTool } from "../../src/define/tool.ts";
import { testAgent } from "../../src/testing/test-agent.ts";
import { verdictText } from "../../src/values/turn-event.ts";
import { whyNotExtends } from "../emulators/anthropic/extends.ts";
import {
  type Answer,
  compact as apiCompaction,
  call,
  httpFailure,
  say,
  stop,
  think,
} from "../emulators/anthropic/index.ts";
import { scripted } from "../emulators/anthropic/scripted.ts";

const WORDS = "word ".repeat(400);
const tool = (name: string, said = "done") =>
  defineTool({ name, description: `Does what ${name} does.`, risk: "read", execute: () => said });

const act = defineTool({ name: "act", description: "Acts.", risk: "write", execute: () => "done" });

const tooLong = httpFailure(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum");

function stage(answers: readonly Answer[], options: Partial<AgentOptions> = {}) {
  const model = scripted(...answers);
  const agent = defineAgent({
    name: "agent",
    description: "An agent.",
    model: "scripted/claude-sonnet-5",
    instructions: `You are an agent. ${"Keep to the point. ".repeat(300)}`,
    tools: [tool("note"), lazy(tool("weather", "Rain."), tool("news"))],
    ...options,
  });
  return { model, agent, session: testAgent(agent, { model: model.provider }) };
}

const isSummary = (body: string) => body.includes(JSON.stringify(SUMMARY_REQUEST));
const toolsOf = (body: string): { name: string; defer_loading?: boolean }[] => JSON.parse(body).tools;
const names = (body: string) => toolsOf(body).map(({ name }) => name);

describe("a compaction that is asked for", () => {
  test("extends the chain's last request, and what comes next is a new epoch that begins with the summary", async () => {
    const { model, session } = stage([
      say("One."),
      say("Two."),
      say("They said one and two."),
      say("Three."),
      say("Four."),
    ]);
    await session.say(`first ${WORDS}`);
    await session.say(`second ${WORDS}`);
    expect(await session.compact()).toBe(true);
    await session.say("third");
    await session.say("fourth");
    const [, second = "", summary = "", third = "", fourth = ""] = model.requests;
    expect(isSummary(summary)).toBe(true);
    expect(whyNotExtends(second, summary)).toBeNull();
    expect(JSON.parse(summary).tool_choice).toEqual(JSON.parse(second).tool_choice);
    expect(third).toContain("They said one and two.");
    expect(third).not.toContain("first word");
    expect(whyNotExtends(third, fourth)).toBeNull();
    const ledger = await session.ledger();
    expect(ledger.map(({ verdict, purpose }) => [verdictText(verdict), purpose])).toEqual([
      ["first", undefined],
      ["extends", undefined],
      ["extends", "summary"],
      ["break; cause=compaction", undefined],
      ["extends", undefined],
    ]);
    const [, , asked, after, next] = ledger.map(({ usage }) => usage);
    expect(asked?.cacheRead).toBeGreaterThan(1_000);
    expect(next?.cacheRead).toBe((after?.cacheRead ?? 0) + (after?.cacheWrite ?? 0));
  });

  test("leaves a baseline that has what the kept part loaded, though the mode forbids it", async () => {
    const found = [call("tool_search", { query: "act" }), call("enter_plan_mode"), say("Planned.")];
    const options = { model: "scripted/claude-opus-5-5", plan: true, tools: [tool("note"), lazy(act)] };
    const { model, session } = stage([say("One."), ...found, say("They plan."), say("Go on.")], options);
    await session.say(`first ${WORDS.repeat(8)}`);
    await session.say("second");
    expect(await session.compact()).toBe(true);
    await session.say("third");
    const third = model.requests.at(-1) ?? "";
    expect(third).toContain("Loaded: act.");
    expect(toolsOf(third).find(({ name }) => name === "act")).toMatchObject({ name: "act" });
    expect(toolsOf(third).some(({ defer_loading }) => defer_loading)).toBe(false);
    expect(third).toContain('"type":"tool_removal","tool":{"type":"tool_reference","name":"act"}');
  });

  describe("after a request that told of the mode's tools", () => {
    const planned = async (revision: number) => {
      const answers = [say("One."), call("enter_plan_mode"), say("Planned."), say("They plan."), say("Go on.")];
      const options = { model: "scripted/claude-opus-5-5", plan: true, tools: [tool("note"), act] };
      const { model, session, agent } = stage(answers, options);
      await session.say(`first ${WORDS}`);
      await session.say("second");
      Object.assign(agent, { revision });
      expect(await session.compact()).toBe(true);
      const [, , planning = "", summary = ""] = model.requests;
      expect(planning).toContain("tool_removal");
      expect(isSummary(summary)).toBe(true);
      await session.say("third");
      expect(model.requests.at(-1)).toContain("Planned.");
      return { planning, summary, verdict: (await session.ledger())[3]?.verdict };
    };

    test("extends it: its answer follows it, though it stays", async () => {
      const { planning, summary, verdict } = await planned(1);
      expect(whyNotExtends(planning, summary)).toBeNull();
      expect(verdict).toEqual({ prefix: "extends" });
    });

    test("has its answer, too, where the chain begins anew", async () => {
      const { summary, verdict } = await planned(2);
      expect(summary).toContain("Planned.");
      expect(verdict).toEqual({ prefix: "break", cause: "revoked" });
    });
  });

  test("keeps the history: nothing is rewritten, and the entry says what it kept", async () => {
    const { session } = stage([say("One."), say("Two."), say("Summary."), say("Three.")]);
    await session.say(`first ${WORDS}`);
    await session.say("second");
    const before = await session.entries();
    await session.compact();
    const after = await session.entries();
    expect(after.slice(0, -1)).toEqual(before);
    expect(after.at(-1)).toMatchObject({
      kind: "compaction",
      origin: "runtime",
      summary: "Summary.",
      why: "asked",
      kept: [3, 4],
    });
  });

  test("has nothing to do where all would stay", async () => {
    const { model, session } = stage([]);
    expect(await session.compact()).toBe(false);
    expect(model.requests).toEqual([]);
  });

  test("that fails changes nothing: the next request extends the one before", async () => {
    const { model, session } = stage([
      say("One."),
      say("Two."),
      httpFailure(500, "api_error", "Broken."),
      say("Three."),
    ]);
    await session.say(`first ${WORDS}`);
    await session.say("second");
    const before = await session.entries();
    await expect(session.compact()).rejects.toThrow("Broken.");
    expect(await session.entries()).toEqual(before);
    await session.say("third");
    const [, second = "", , third = ""] = model.requests;
    expect(whyNotExtends(second, third)).toBeNull();
    const ledger = await session.ledger();
    expect(ledger.map(({ verdict }) => verdictText(verdict))).toEqual(["first", "extends", "extends", "extends"]);
    const [, before2, , next] = ledger.map(({ usage }) => usage);
    expect(next?.cacheRead).toBe((before2?.cacheRead ?? 0) + (before2?.cacheWrite ?? 0));
  });

  test("whose answer calls a tool is asked for once more without calls, and fails if that gives no text either", async () => {
    const { model, session } = stage([
      ...[say("One."), say("Two.")],
      ...[call("note"), say("At last."), say("Three.")],
    ]);
    await session.say(`first ${WORDS}`);
    await session.say("second");
    expect(await session.compact()).toBe(true);
    const [, , first = "", again = ""] = model.requests;
    const { tool_choice, ...rest } = JSON.parse(again);
    expect(tool_choice).toEqual({ type: "none" });
    expect(rest).toEqual(JSON.parse(first));
    const ledger = await session.ledger();
    expect(ledger.map(({ verdict }) => verdictText(verdict)).slice(2)).toEqual(["extends", "break; cause=settings"]);
    expect((await session.entries()).filter(({ kind }) => kind === "results")).toEqual([]);
  });
});

test("a summary that was answered and gave no text is no link: the next request goes on from the one before it", async () => {
  const { model, session } = stage([say("One."), say("Two."), call("note"), call("note"), say("Three.")]);
  await session.say(`first ${WORDS}`);
  await session.say("second");
  await expect(session.compact()).rejects.toThrow("called a tool");
  await session.say("third");
  const [, second = "", , , third = ""] = model.requests;
  expect(whyNotExtends(second, third)).toBeNull();
  const verdicts = (await session.ledger()).map(({ verdict }) => verdictText(verdict));
  expect(verdicts).toEqual(["first", "extends", "extends", "break; cause=settings", "extends"]);
});

describe("a compaction and a message without an answer", () => {
  const bodies = ({ requests }: { readonly requests: readonly string[] }) => requests.map((body) => JSON.parse(body));

  test("what was refused as too long is not asked about, and what comes next begins with the summary", async () => {
    const answers = [say("One."), say("Two."), tooLong, say("Summary."), say("Three."), say("Four.")];
    const { model, session } = stage(answers, { compaction: false });
    await session.say(`first ${WORDS}`);
    await session.say("second");
    await expect(session.say(`third ${WORDS}`)).rejects.toThrow("prompt is too long");
    expect(await session.compact()).toBe(true);
    await session.say("other");
    await session.say("more");
    const [, second = "", , summary = "", next = "", last = ""] = model.requests;
    expect(isSummary(summary)).toBe(true);
    expect(summary).not.toContain("third");
    expect(whyNotExtends(second, summary)).toBeNull();
    expect(next).toContain("Summary.");
    expect(next).not.toContain("first word");
    expect(next).not.toContain("third");
    expect(whyNotExtends(next, last)).toBeNull();
    const kinds = (await session.entries()).map(({ kind }) => kind);
    expect(kinds.slice(4)).toEqual(["user", "rewind", "compaction", "user", "assistant", "user", "assistant"]);
  });

  test("what was refused once more, behind a summary made for it, leaves the summary to the next message", async () => {
    const answers = [say("One."), say("Two."), tooLong, say("Summary."), tooLong, say("Three."), say("Four.")];
    const { model, session } = stage(answers);
    await session.say(`first ${WORDS}`);
    await session.say("second");
    await expect(session.say(`third ${WORDS}`)).rejects.toThrow("prompt is too long");
    await session.say("other");
    await session.say("more");
    const [, , , , , next = "", last = ""] = model.requests;
    expect(next).toContain("Summary.");
    expect(next).not.toContain("first word");
    expect(next).not.toContain("third");
    expect(whyNotExtends(next, last)).toBeNull();
  });

  test("what a failed turn left unanswered stays, and the same message again is answered", async () => {
    const failure = httpFailure(500, "api_error", "Broken.");
    const answers = [say("One."), say("Two."), failure, say("Summary."), say("Three.")];
    const { model, session } = stage(answers, { compaction: { keep: 10 } });
    await session.say(`first ${WORDS}`);
    await session.say("second");
    await expect(session.say(`third ${WORDS}`)).rejects.toThrow("Broken.");
    expect(await session.compact()).toBe(true);
    expect((await session.say(`third ${WORDS}`)).text).toBe("Three.");
    const { messages } = bodies(model).at(-1);
    expect(messages).toHaveLength(1);
    expect(JSON.stringify(messages)).toContain("third word");
    expect((await session.entries()).filter(({ kind }) => kind === "user")).toHaveLength(3);
  });

  test("a compaction that fails behind a refused message changes nothing", async () => {
    const failure = httpFailure(500, "api_error", "Broken.");
    const { session } = stage([say("One."), tooLong, failure, say("Two.")], { compaction: false });
    await session.say(`first ${WORDS}`);
    await expect(session.say(`second ${WORDS}`)).rejects.toThrow("prompt is too long");
    const before = await session.entries();
    await expect(session.compact()).rejects.toThrow("Broken.");
    expect(await session.entries()).toEqual(before);
    expect((await session.say("third")).text).toBe("Two.");
  });
});

describe("an automatic compaction", () => {
  test("comes before a turn's first request once the last call used so much of the window", async () => {
    const answers = [say("One."), say("Two."), say("Summary."), say("Three.")];
    const { model, session } = stage(answers, { compaction: { threshold: 0.004 } });
    await session.say("first");
    await session.say(`second ${WORDS.repeat(10)}`);
    await session.say("third");
    expect(model.requests.map(isSummary)).toEqual([false, false, true, false]);
    expect((await session.entries()).find(({ kind }) => kind === "compaction")).toMatchObject({ why: "threshold" });
    expect((await session.ledger()).at(-1)?.verdict).toEqual({ prefix: "break", cause: "compaction" });
  });

  test("comes between two steps as well: the results are stored first, the tools in use stay", async () => {
    const { model, session } = stage(
      [
        ...[call("tool_search", { query: "weather, news" }), call("weather"), call("note")],
        ...[say("Summary."), say("It rains."), say("Still.")],
      ],
      {
        compaction: { threshold: 0.004 },
        tools: [tool("note"), lazy(tool("weather", `Rain. ${WORDS.repeat(8)}`), tool("news"))],
      },
    );
    await session.say("how is the weather?");
    const [, , , summary = "", last = ""] = model.requests;
    expect(model.requests.map(isSummary)).toEqual([false, false, false, true, false]);
    expect(summary).toContain("Rain.");
    const entries = await session.entries();
    const compaction = entries.find(({ kind }) => kind === "compaction");
    expect(compaction).toMatchObject({ why: "threshold", kept: [1, 6, 7], carriedToolNames: ["weather"] });
    // A tool that was only found counts no more; one that succeeded in this turn stays, inline in the new baseline.
    expect(names(last)).toEqual(["note", "tool_search", "weather"]);
    expect(toolsOf(last).some((one) => one.defer_loading)).toBe(false);
    expect(last).not.toContain("news");
    await session.say("and now?");
    expect(names(model.requests.at(-1) ?? "")).toEqual(["note", "tool_search", "weather"]);
  });

  test("that fails is not tried again in the same turn, and the turn goes on", async () => {
    const answers = [say("One."), httpFailure(500, "api_error", "Broken."), call("note"), say("Two.")];
    const { model, session } = stage(answers, { compaction: { threshold: 0.001 } });
    await session.say(`first ${WORDS}`);
    expect((await session.say("second")).text).toBe("Two.");
    expect(model.requests.map(isSummary)).toEqual([false, true, false, false]);
    expect((await session.ledger()).map(({ verdict }) => verdictText(verdict))).toEqual([
      "first",
      "extends",
      "extends",
      "extends",
    ]);
  });

  test("is not made where the agent wants none, nor where the context is too long", async () => {
    const { model, session } = stage([say("One."), tooLong], { compaction: false });
    await session.say(`first ${WORDS}`);
    await expect(session.say("second")).rejects.toThrow("prompt is too long");
    expect(model.requests.map(isSummary)).toEqual([false, false]);
  });
});

test("a provider that compacts twice in a row leaves the second one, with the message behind it", async () => {
  const compacted = (what: string) => [apiCompaction(what), stop("compaction")];
  const { model, session } = stage([compacted("Nothing yet."), compacted("Still nothing."), say("One."), say("Two.")], {
    compaction: { by: "provider" },
  });
  expect((await session.say("first")).text).toBe("One.");
  await session.say("second");
  const [, , third = "", fourth = ""] = model.requests;
  expect(third).toContain("Still nothing.");
  expect(third).not.toContain("Nothing yet.");
  expect(whyNotExtends(third, fourth)).toBeNull();
});

test("each call is told, also one whose id comes again behind a compaction in mid-turn", async () => {
  const answers = [call("note", {}, "note_0"), call("note", {}, "note_1"), say("Summary.")];
  const { session } = stage([...answers, call("note", {}, "note_0"), say("Done.")], {
    compaction: { threshold: 0.004, keep: 10 },
    tools: [tool("note", `Noted. ${WORDS.repeat(10)}`)],
  });
  const { events } = await session.say("go");
  expect(events.flatMap((event) => (event.type === "call" ? [event.id] : []))).toEqual(["note_0", "note_1", "note_0"]);
});

describe("a request that is too long", () => {
  test("is sent again after a compaction, whose summary is asked for without what made it too long", async () => {
    const { model, session } = stage([say("One."), say("Two."), tooLong, say("Summary."), say("Three.")]);
    await session.say(`first ${WORDS}`);
    await session.say("second");
    expect((await session.say("third")).text).toBe("Three.");
    const [, second = "", refused = "", summary = "", again = ""] = model.requests;
    expect(model.requests.map(isSummary)).toEqual([false, false, false, true, false]);
    expect(refused).toContain("third");
    expect(summary).not.toContain("third");
    expect(whyNotExtends(second, summary)).toBeNull();
    expect(again).toContain("Summary.");
    expect(again).toContain("third");
    expect((await session.ledger()).map(({ verdict, answered }) => [verdictText(verdict), answered]).slice(2)).toEqual([
      ["extends", false],
      ["extends", true],
      ["break; cause=compaction", true],
    ]);
  });

  test("fails readably where it is too long even then, once and no more", async () => {
    const { model, session } = stage([say("One."), tooLong, say("Summary."), tooLong, say("Two.")]);
    await session.say(`first ${WORDS}`);
    await expect(session.say("second")).rejects.toThrow("prompt is too long");
    expect(model.requests.map(isSummary)).toEqual([false, false, true, false]);
    // The next turn is valid.
    expect((await session.say("third")).text).toBe("Two.");
  });

  test("is taken back where no summary came of it, as before", async () => {
    const { session } = stage([say("One."), tooLong, httpFailure(500, "api_error", "Broken."), say("Two.")]);
    await session.say(`first ${WORDS}`);
    await expect(session.say("second")).rejects.toThrow("prompt is too long");
    expect((await session.say("third")).text).toBe("Two.");
    expect((await session.entries()).map(({ kind }) => kind)).not.toContain("compaction");
  });
});

test("another model may write the summary: it reads the whole context, and the conversation's own chain knows nothing of it", async () => {
  const answers = [
    call("tool_search", { query: "weather" }),
    say("One."),
    say("Two."),
    say("Summary by another."),
    say("Three."),
  ];
  const { model, session } = stage(answers, { compaction: { model: "scripted/claude-opus-4-8" } });
  await session.say(`first ${WORDS}`);
  await session.say("second");
  expect(await session.compact()).toBe(true);
  await session.say("third");
  const [, , , summary = "", last = ""] = model.requests;
  expect(JSON.parse(summary).model).toBe("claude-opus-4-8");
  expect(summary).toContain("first word");
  expect(last).toContain("Summary by another.");
  const ledger = await session.ledger();
  expect(ledger.map(({ model: used, chain }) => [used, chain]).at(3)).toEqual([
    "scripted/claude-opus-4-8",
    "scripted/claude-opus-4-8",
  ]);
  expect(ledger.at(-1)?.verdict).toEqual({ prefix: "break", cause: "compaction" });
});

test("a model that writes the summary gets no thinking, though it had the conversation itself before", async () => {
  const bound = "scripted/claude-opus-5-5";
  const answers = [[think("one, then"), say("One.")], say("Two."), say("Summary."), say("Three.")];
  const settings = { thinking: true, maxOutputTokens: 5_000 };
  const { model, session, agent } = stage(answers, { model: bound, settings, compaction: { model: bound } });
  await session.say(`first ${WORDS}`);
  Object.assign(agent, { model: "scripted/claude-opus-4-8" });
  await session.say("second");
  expect(await session.compact()).toBe(true);
  const [, , summary = ""] = model.requests;
  expect(JSON.parse(summary).model).toBe("claude-opus-5-5");
  expect(summary).toContain("One.");
  expect(summary).not.toContain('"type":"thinking","thinking"');
  expect(summary).not.toContain("one, then");
  expect((await session.say("third")).text).toBe("Three.");
});
