import { describe, expect, test } from "vitest";
import { defineAgent } from "../../src/define/agent.ts";
import { defineTool } from "../../src/define/tool.ts";
import type { Agent } from "../../src/define/types.ts";
import { testAgent } from "../../src/testing/test-agent.ts";
import { verdictText } from "../../src/values/turn-event.ts";
import { whyNotExtends } from "../emulators/anthropic/extends.ts";
import { type Answer, call, say, think } from "../emulators/anthropic/index.ts";
import { scripted } from "../emulators/anthropic/scripted.ts";

type Deployed = Partial<Pick<Agent, "instructions" | "revision" | "tools">>;

const object = (properties: Record<string, object>) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});
const echo = (properties: Record<string, object>, description = "Says it.") =>
  defineTool({
    name: "echo",
    description,
    risk: "read",
    input: object(properties),
    execute: (input) => JSON.stringify(input),
  });

/** A session with an agent of which each turn may find another release deployed. */
function stage(first: Deployed, ...answers: readonly Answer[]) {
  const model = scripted(...answers);
  const base = defineAgent({
    name: "agent",
    description: "An agent.",
    model: "scripted/claude-opus-5-5",
    settings: { thinking: true },
    ...(first.tools === undefined ? {} : { tools: first.tools }),
  });
  let deployed: Deployed = first;
  const { index: _, ...rest } = base;
  const agent: Agent = {
    ...rest,
    get instructions() {
      return deployed.instructions ?? "Be kind.";
    },
    get revision() {
      return deployed.revision ?? 1;
    },
    get tools() {
      return deployed.tools ?? [];
    },
  };
  const session = testAgent(agent, { model: model.provider });
  return {
    model,
    session,
    async say(text: string, release?: Deployed) {
      if (release !== undefined) deployed = release;
      return session.say(text);
    },
    async verdicts() {
      return (await session.ledger()).map(({ verdict }) => verdictText(verdict));
    },
  };
}

const answer = (text: string) => [think(`Thinking of ${text}`), say(text)];
const bodies = (model: { requests: readonly string[] }) => model.requests.map((body) => JSON.parse(body));

describe("instructions that a deploy changed", () => {
  test("reach a running epoch as an update behind what was sent, before the message that they are the first to meet", async () => {
    const stand = stage({ instructions: "Be kind." }, answer("one"), answer("two"), answer("three"), answer("four"));
    await stand.say("first");
    await stand.say("second", { instructions: "Be brief." });
    await stand.say("third");
    await stand.say("fourth", { instructions: "Be kind." });
    const { requests } = stand.model;
    for (const [index, body] of requests.slice(1).entries())
      expect(whyNotExtends(requests[index] ?? "", body)).toBeNull();
    expect(await stand.verdicts()).toEqual(["first", "extends", "extends", "extends"]);
    const [, second = "", third = "", fourth = ""] = requests;
    expect(second).toMatch(/<system-update>\\nBe brief\.\\n<\/system-update>.*second/);
    expect(third.match(/<system-update>/g)).toHaveLength(1);
    expect(fourth).toMatch(/third.*<system-update>\\nBe kind\.\\n<\/system-update>.*fourth/);
    for (const body of bodies(stand.model)) expect(JSON.stringify(body.system)).toContain("Be kind.");
  });

  test("given by a function are not asked again, until a baseline is recorded or the revision rises", async () => {
    let asked = 0;
    const instructions = () => `Asked ${++asked} times.`;
    const stand = stage(
      { instructions },
      answer("one"),
      answer("two"),
      say("Summary."),
      answer("three"),
      answer("four"),
    );
    await stand.say(`first ${"word ".repeat(300)}`);
    await stand.say("second", { instructions: () => `Another function, asked ${++asked} times.` });
    expect(asked).toBe(1);
    await stand.session.compact();
    await stand.say("third");
    expect(asked).toBe(2);
    await stand.say("fourth", { instructions, revision: 2 });
    expect(asked).toBe(3);
    const systems = bodies(stand.model).map(({ system }) => system[0].text);
    expect(systems).toEqual([
      ...["Asked 1 times.", "Asked 1 times.", "Asked 1 times."],
      ...["Another function, asked 2 times.", "Asked 3 times."],
    ]);
    expect(await stand.verdicts()).toEqual([
      ...["first", "extends", "extends"],
      ...["break; cause=compaction", "break; cause=revoked"],
    ]);
  });

  test("are withdrawn by a revision, an update that had reached the session included", async () => {
    const stand = stage({ instructions: "Be kind." }, answer("one"), answer("two"), answer("three"), answer("four"));
    await stand.say("first");
    await stand.say("second", { instructions: "The password is swordfish." });
    await stand.say("third", { instructions: "Be brief.", revision: 2 });
    await stand.say("fourth");
    const [, second = "", third = "", fourth = ""] = stand.model.requests;
    expect(second).toContain("swordfish");
    for (const body of [third, fourth]) expect(body).not.toContain("swordfish");
    expect(JSON.stringify(bodies(stand.model)[2].system)).toContain("Be brief.");
    expect(third).not.toContain("system-update");
    expect(whyNotExtends(third, fourth)).toBeNull();
    expect(await stand.verdicts()).toEqual(["first", "extends", "break; cause=revoked", "extends"]);
  });

  test("become part of the system text where a compaction begins a new epoch, and are said once", async () => {
    const stand = stage({ instructions: "Be kind." }, answer("one"), answer("two"), say("Summary."), answer("three"));
    await stand.say(`first ${"word ".repeat(300)}`);
    await stand.say("second", { instructions: "Be brief." });
    await stand.session.compact();
    await stand.say("third");
    const last = bodies(stand.model).at(-1);
    expect(JSON.stringify(last.system)).toContain("Be brief.");
    expect(JSON.stringify(last.messages)).not.toContain("system-update");
  });
});

describe("a tool that a deploy changed", () => {
  const results = (body: string) =>
    JSON.parse(body).messages.flatMap(({ content }: { content: { type: string }[] }) =>
      content.filter(({ type }) => type === "tool_result"),
    );

  test("is checked against what the model was told first, then against what is deployed, which the error carries", async () => {
    const text = { type: "string" };
    const stand = stage(
      { tools: [echo({ text })] },
      ...[
        answer("one"),
        [think("a"), call("echo", { text: "x" })],
        [think("b"), call("echo", { words: "x" })],
        answer("done"),
      ],
    );
    await stand.say("first");
    const renamed = echo({ words: text }, "Says it with words.");
    await stand.say("second", { tools: [renamed] });
    const [refused, ran] = results(stand.model.requests.at(-1) ?? "");
    expect(refused).toMatchObject({ is_error: true });
    expect(refused.content[0].text).toContain(`The tool's schema: ${JSON.stringify(renamed.spec.inputSchema)}`);
    expect(ran.content).toEqual([{ type: "text", text: '{"words":"x"}' }]);
    expect(await stand.verdicts()).toEqual(["first", "extends", "extends", "extends"]);
    expect(stand.model.requests.at(-1)).not.toContain("Says it with words.");
  });

  test("is not called with what the deployed schema alone takes, before the model was told of it", async () => {
    const stand = stage(
      { tools: [echo({ text: { type: "string" } })] },
      ...[answer("one"), [think("a"), call("echo", { text: 1 })], answer("done")],
    );
    await stand.say("first");
    await stand.say("second", { tools: [echo({ text: {} })] });
    const [refused] = results(stand.model.requests.at(-1) ?? "");
    expect(refused).toMatchObject({ is_error: true });
    expect(refused.content[0].text).toContain("The input does not match");
  });

  test("stays declared as it was when it is removed, and answers with an error", async () => {
    const stand = stage(
      { tools: [echo({ text: { type: "string" } })] },
      ...[answer("one"), [think("a"), call("echo", { text: "x" })], answer("done")],
    );
    await stand.say("first");
    await stand.say("second", { tools: [] });
    const [gone] = results(stand.model.requests.at(-1) ?? "");
    expect(gone).toMatchObject({ is_error: true, content: [{ text: "The tool echo is no longer available." }] });
    expect(bodies(stand.model).at(-1).tools).toEqual(bodies(stand.model)[0].tools);
    expect(await stand.verdicts()).toEqual(["first", "extends", "extends"]);
  });

  test("has its description withdrawn by a revision", async () => {
    const text = { type: "string" };
    const stand = stage({ tools: [echo({ text }, "An old word.")] }, answer("one"), answer("two"), answer("three"));
    await stand.say("first");
    await stand.say("second", { tools: [echo({ text }, "A new word.")] });
    await stand.say("third", { tools: [echo({ text }, "A new word.")], revision: 2 });
    const [, second = "", third = ""] = stand.model.requests;
    expect(second).toContain("An old word.");
    expect(third).not.toContain("An old word.");
    expect(third).toContain("A new word.");
    expect((await stand.verdicts()).at(-1)).toBe("break; cause=revoked");
  });
});
