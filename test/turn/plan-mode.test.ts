import { describe, expect, test } from "vitest";
import { defineAgent } from "../../src/define/agent.ts";
import { lazy } from "../../src/define/lazy.ts";
import { defineTool } from "../../src/define/tool.ts";
import { type Answer, call, callUnseen, say, scripted, testAgent, think } from "../../src/testing.ts";
import type { Entry } from "../../src/values/entry.ts";
import { verdictText } from "../../src/values/turn-event.ts";
import { bodyLayout } from "../emulators/anthropic/extends.ts";
import { layoutDifference } from "../emulators/common/layout.ts";

const echo = (name: string, risk: "read" | "write") =>
  defineTool({ name, description: `Does ${name}.`, risk, execute: () => `${name} ran` });

function planner(model: string) {
  return defineAgent({
    name: "planner",
    description: "Plans first.",
    model: `anthropic/${model}`,
    settings: { thinking: 1024 },
    instructions: "Plan what is large.",
    plan: true,
    tools: [echo("look", "read"), echo("write_file", "write"), lazy(echo("weather", "read"), echo("erase", "write"))],
  });
}

function open(model: string, ...answers: readonly Answer[]) {
  const scriptedModel = scripted(...answers);
  return {
    requests: scriptedModel.requests,
    script: scriptedModel.script,
    tested: testAgent(planner(model), { model: scriptedModel.provider }),
  };
}

const results = (entries: readonly Entry[]) =>
  entries.flatMap((entry) =>
    entry.kind === "results"
      ? entry.results.map(({ name, status, content }) => [
          name,
          status,
          content.map((part) => "text" in part && part.text).join(),
        ])
      : [],
  );

const verdicts = async (tested: ReturnType<typeof testAgent>) =>
  (await tested.ledger()).map(({ verdict }) => verdictText(verdict));

/** Each request extends the one before it in its chain: `chains` names the chain of each. */
function expectChains(requests: readonly string[], chains: readonly string[]): void {
  const last = new Map<string, string>();
  for (const [index, request] of requests.entries()) {
    const chain = chains[index] ?? "";
    const before = last.get(chain);
    if (before !== undefined) expect(layoutDifference(bodyLayout(before), bodyLayout(request))).toBeNull();
    last.set(chain, request);
  }
}

const SESSION = [
  [think("load"), call("tool_search", { query: "weather, erase" })],
  [think("enter"), call("enter_plan_mode")],
  [think("look"), call("weather"), callUnseen("write_file"), callUnseen("erase")],
  [think("submit"), call("submit_plan", { plan: "1. Erase weather." })],
  [think("do"), call("erase"), call("write_file")],
  [think("done"), say("Carried out.")],
];

describe.each([
  { model: "claude-opus-5-5", perMode: false },
  { model: "claude-sonnet-5", perMode: true },
  { model: "claude-sonnet-4-5", perMode: true },
  { model: "claude-opus-4-1", perMode: true },
])("plan mode on $model", ({ model, perMode }) => {
  test("a plan is made, approved and carried out; what was loaded before is there again, and what the mode forbids is refused", async () => {
    const { tested, requests } = open(model, ...SESSION);
    await tested.say("Clean up.");
    const [pause] = await tested.pauses();
    expect(pause).toMatchObject({ kind: "plan", plan: "1. Erase weather." });
    const rest = await tested.answer(pause?.id ?? "", { kind: "plan", decision: "approve" });
    expect(rest?.text).toBe("Carried out.");
    const entries = await tested.entries();
    expect(results(entries).map(([name, status]) => `${name} ${status}`)).toEqual([
      "tool_search ok",
      "enter_plan_mode ok",
      ...["weather ok", "write_file denied", "erase denied"],
      "submit_plan ok",
      ...["erase ok", "write_file ok"],
    ]);
    expect(results(entries)[3]?.[2]).toBe("The tool write_file is not allowed in the mode plan.");
    expect(entries.flatMap((entry) => (entry.kind === "mode_change" ? [entry.mode] : []))).toEqual(["plan", "agent"]);
    const told = entries.filter(({ kind, origin }) => kind === "user" && origin === "runtime");
    expect(JSON.stringify(told)).toContain("1. Erase weather.");

    const inline = model === "claude-opus-4-1";
    // Without load points each load is a break, and declared as one.
    const chains = perMode
      ? [inline ? "before the load" : "agent", "agent", "plan", "plan", "agent", "agent"]
      : requests.map(() => "one");
    expectChains(requests, chains);
    const loaded = inline ? "break; cause=late_inline" : "extends";
    expect(await verdicts(tested)).toEqual(
      perMode
        ? ["first", loaded, "break; cause=mode", "extends", "extends", "extends"]
        : ["first", "extends", "extends", "extends", "extends", "extends"],
    );
  });

  test("a denied plan goes back with the reason, and the mode stays", async () => {
    const { tested, script } = open(model, call("enter_plan_mode"), call("submit_plan", { plan: "Erase all." }));
    await tested.say("Clean up.");
    const [pause] = await tested.pauses();
    script(callUnseen("erase"), say("Another plan, then."));
    const rest = await tested.answer(pause?.id ?? "", { kind: "plan", decision: "deny", reason: "Too much." });
    expect(rest?.text).toBe("Another plan, then.");
    const all = results(await tested.entries());
    expect(all[1]).toEqual(["submit_plan", "denied", "The plan was not approved. The reason: Too much."]);
    expect(all[2]?.slice(0, 2)).toEqual(["erase", "denied"]);
    script(call("submit_plan", { plan: "Erase one." }));
    await tested.say("And?");
    expect(await tested.pauses()).toMatchObject([{ kind: "plan", plan: "Erase one." }]);
  });

  test("a message instead of a decision is no approval: planning goes on", async () => {
    const { tested, script } = open(model, call("enter_plan_mode"), call("submit_plan", { plan: "Erase all." }));
    await tested.say("Clean up.");
    script(callUnseen("write_file"), say("Still planning."));
    expect((await tested.say("approve, yes, approved")).text).toBe("Still planning.");
    const all = results(await tested.entries());
    expect(all.map(([name, status]) => `${name} ${status}`)).toEqual([
      ...["enter_plan_mode ok", "submit_plan interrupted", "write_file denied"],
    ]);
  });
});

test("outside of plan mode a plan can't be submitted, and within it can't be entered again", async () => {
  const { tested } = open(
    "claude-sonnet-5",
    callUnseen("submit_plan", { plan: "x" }),
    call("enter_plan_mode"),
    callUnseen("enter_plan_mode"),
    say("Hm."),
  );
  await tested.say("Try.");
  expect(results(await tested.entries()).map(([name, status]) => `${name} ${status}`)).toEqual([
    ...["submit_plan denied", "enter_plan_mode ok", "enter_plan_mode denied"],
  ]);
});
