import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Provider } from "../../../src/providers/contract.ts";
import { verdictText } from "../../../src/values/turn-event.ts";
import { call, destroyAt, say, think } from "../../emulators/common/answer.ts";
import { layoutDifference } from "../../emulators/common/layout.ts";
import { CONTENDERS, type Contender, type Stage } from "./contenders.ts";
import { outcome, type Talk, talk } from "./talk.ts";

/** One of each wire, each with a model. */
const NAMES = ["anthropic/claude-sonnet-5", "openai/gpt-5.4", "bridged", "acme"];
const cast = NAMES.map((name) => CONTENDERS.find((one) => one.name === name) as Contender);
const [claude, gpt, bridged, acme] = cast as [Contender, Contender, Contender, Contender];
const full = ({ key, model }: Contender) => `${key}/${model}`;

const stages = new Map<Contender, Stage>();
const on = (contender: Contender): Stage => stages.get(contender) as Stage;
let chat: Talk;
let clock = 0;

beforeAll(async () => {
  for (const contender of cast) stages.set(contender, await contender.start());
});
beforeEach(() => {
  clock = Date.parse("2026-11-30T12:00:00Z");
  const providers: Record<string, Provider> = {};
  const env: Record<string, string> = {};
  for (const contender of cast) {
    const { url } = on(contender);
    providers[contender.key] = contender.provider(url);
    Object.assign(env, contender.env(url));
  }
  chat = talk(providers, env, () => clock);
});
afterEach(() => {
  for (const stage of stages.values()) stage.reset();
});
afterAll(async () => {
  for (const stage of stages.values()) await stage.close();
});

const verdicts = async () => (await chat.ledger()).map(({ model, verdict }) => `${model} ${verdictText(verdict)}`);
/** The requests that a provider accepted each extend the one before. */
function expectOwnChainExtends(contender: Contender): void {
  const bodies = on(contender)
    .requests()
    .flatMap(({ body, status }) => (status === 200 ? [body] : []));
  for (const [index, body] of bodies.slice(1).entries()) {
    expect(layoutDifference(contender.layout(bodies[index] ?? ""), contender.layout(body))).toBeNull();
  }
}

test.for(cast.flatMap((from) => cast.filter((to) => to !== from).map((to) => [from, to] as const)))(
  "a deploy changes the model: what was loaded stays loaded, and going back extends the old chain (%$)",
  async ([from, to]) => {
    const { late } = from;
    on(from).script(
      [think("Hm."), say("A moment."), call("tool_search", { query: "weather" })],
      from.callLate("weather"),
      say("Rain."),
    );
    expect(outcome(await chat.say("Weather?", { model: full(from) }))).toBe("end");
    on(to).script([think("So."), to.callLate("weather", { text: "now" })], say("Still."));
    expect(outcome(await chat.say("And now?", { model: full(to) }))).toBe("end");
    on(from).script(from.callLate("weather"), say("Dry."));
    expect(outcome(await chat.say("And at last?", { model: full(from) }))).toBe("end");
    const [first, second, third, ...rest] = await verdicts();
    expect([first, second, third]).toEqual([
      `${full(from)} first`,
      `${full(from)} ${late === "extends" ? "extends" : "break; cause=late_inline"}`,
      `${full(from)} extends`,
    ]);
    expect(rest).toEqual([
      `${full(to)} break; cause=model`,
      `${full(to)} extends`,
      `${full(from)} extends`,
      `${full(from)} extends`,
    ]);
    if (late === "extends") expectOwnChainExtends(from);
    expectOwnChainExtends(to);
  },
);

test("falling back: the next model is asked before anything was answered, and the turn goes on with it", async () => {
  on(claude).script(60);
  on(gpt).script(call("tool_search", { query: "weather" }), gpt.callLate("weather"), say("Rain."));
  const deploy = { model: full(claude), fallback: [full(gpt)] };
  const events = await chat.say("Weather?", deploy);
  expect(outcome(events)).toBe("end");
  expect(on(claude).requests()).toHaveLength(1);
  expect(await verdicts()).toEqual([
    `${full(claude)} first`,
    `${full(gpt)} break; cause=model`,
    `${full(gpt)} extends`,
    `${full(gpt)} extends`,
  ]);
  expect(events.filter((event) => event.type === "request").map((event) => event.model)).toEqual([
    full(claude),
    ...Array(3).fill(full(gpt)),
  ]);
});

test("a model that asked to be left alone rests for so long, in the next turns too, and is then gone back to", async () => {
  const deploy = { model: full(claude), fallback: [full(gpt)] };
  on(claude).script(call("clock"), say("Noon."));
  await chat.say("Time?", deploy);
  on(claude).script(60);
  on(gpt).script(say("One."), say("Two."));
  await chat.say("Hello?", deploy);
  clock += 30_000;
  await chat.say("Hello again?", deploy);
  expect(on(claude).requests()).toHaveLength(3);
  clock += 31_000;
  on(claude).script(say("Back."));
  await chat.say("And now?", deploy);
  expect((await verdicts()).slice(2)).toEqual([
    `${full(claude)} extends`,
    `${full(gpt)} break; cause=model`,
    `${full(gpt)} extends`,
    `${full(claude)} extends`,
  ]);
  expectOwnChainExtends(claude);
  expectOwnChainExtends(gpt);
});

test("one marking serves the whole chain of models: a late tool is marked once and loaded on each", async () => {
  const deploy = { model: full(claude), fallback: [full(gpt), full(bridged)] };
  on(claude).script(call("clock"), say("Noon."));
  await chat.say("Time?", deploy);
  on(claude).script("down", "down");
  on(gpt).script("down", "down");
  on(bridged).script(bridged.callLate("translate"), say("Mittag."));
  const later = { ...deploy, core: ["translate"] };
  expect(outcome(await chat.say("Translate.", later))).toBe("end");
  clock += 1_000;
  on(claude).script(claude.callLate("translate"), say("Noch einmal."));
  expect(outcome(await chat.say("Again.", later))).toBe("end");
  expect((await chat.entries()).filter(({ kind }) => kind === "host_search")).toHaveLength(1);
  expectOwnChainExtends(claude);
  expect((await verdicts()).filter((verdict) => verdict.includes("unexpected"))).toEqual([]);
});

test("in mid-turn, with results in hand: the next model gets them, and the one before is not asked again", async () => {
  const deploy = { model: full(gpt), fallback: [full(claude)] };
  on(gpt).script([think("Hm."), call("clock"), call("tool_search", { query: "weather" })], 60);
  on(claude).script(claude.callLate("weather"), say("Rain at noon."));
  expect(outcome(await chat.say("Time and weather?", deploy))).toBe("end");
  expect(await verdicts()).toEqual([
    `${full(gpt)} first`,
    `${full(gpt)} extends`,
    `${full(claude)} break; cause=model`,
    `${full(claude)} extends`,
  ]);
});

test("once an answer has begun nobody else is asked", async () => {
  on(claude).script([say("Hello there, my friend."), destroyAt(4)]);
  expect(outcome(await chat.say("Hello?", { model: full(claude), fallback: [full(gpt)] }))).toMatch(
    /^failed: The connection/,
  );
  expect(on(gpt).requests()).toHaveLength(0);
});

test("where all models fail the caller reads the last one's words, and the next turn is valid", async () => {
  const deploy = { model: full(acme), fallback: [full(gpt)] };
  on(acme).script(60);
  on(gpt).script(30);
  const events = await chat.say("Hello?", deploy);
  expect(events.at(-1)).toMatchObject({ type: "failed", failure: { reason: "provider", status: 429, retryAfter: 30 } });
  clock += 61_000;
  on(acme).script(say("Here."));
  expect(outcome(await chat.say("Hello?", deploy))).toBe("end");
});

test("a model that rests is not fallen back on either; where all of them rest the first is asked", async () => {
  const deploy = { model: full(acme), fallback: [full(gpt)] };
  on(acme).script(60);
  on(gpt).script(600);
  await chat.say("Hello?", deploy);
  clock += 61_000;
  on(acme).script(60);
  const events = await chat.say("Hello?", deploy);
  expect(events.at(-1)).toMatchObject({ type: "failed", failure: { status: 429, retryAfter: 60 } });
  expect(on(gpt).requests()).toHaveLength(1);
  clock += 1_000;
  on(acme).script(say("Here."));
  expect(outcome(await chat.say("Hello?", deploy))).toBe("end");
});

test("a model without a key is passed over; without any that can be used the first is said to be unusable", async () => {
  on(claude).script(say("Here."));
  expect(outcome(await chat.say("Hello?", { model: "nowhere/m", fallback: [full(claude)] }))).toBe("end");
  expect(outcome(await chat.say("Hello?", { model: "nowhere/m" }))).toContain("nowhere/m");
});

test("a request that is refused for what it says is not sent to another model", async () => {
  on(acme).script("refused");
  const refused = await chat.say("Hello?", { model: full(acme), fallback: [full(claude)] });
  expect(outcome(refused)).toMatch(/^failed: The model provider answered 400/);
  expect(on(claude).requests()).toHaveLength(0);
});
