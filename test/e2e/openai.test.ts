import { afterAll, beforeAll, expect, test } from "vitest";
import type { LedgerRow } from "../../src/session/ledger-row.ts";
import { call, say } from "../emulators/common/answer.ts";
import { layoutDifference } from "../emulators/common/layout.ts";
import * as openai from "../emulators/openai/index.ts";
import { type Stage, startStage } from "./chat.ts";

/** Long enough to be cached. */
const INSTRUCTIONS = `You are brief. ${"There is much to know about the sea. ".repeat(200)}`;
const search = (query: string) => call("tool_search", { query });

let model: openai.OpenAIEmulator;
let stage: Stage;
beforeAll(async () => {
  model = await openai.startOpenAIEmulator();
  stage = await startStage({ INSTRUCTIONS, OPENAI_API_KEY: "key", OPENAI_BASE_URL: model.url });
});
afterAll(async () => {
  await stage.close();
  await model.close();
});

const deploy = (changes: Readonly<Record<string, string>>) =>
  stage.workerd.fresh({ INSTRUCTIONS, OPENAI_API_KEY: "key", OPENAI_BASE_URL: model.url, ...changes });

async function turn(conversation: string, text: string, ...answers: openai.Answer[]) {
  model.script(...answers);
  const reply = await stage.say(conversation, text);
  expect(reply.error).toBeNull();
  return { text: reply.text, prefix: reply.headers.get("x-holdfast-prefix") };
}

async function ledger(conversation: string): Promise<LedgerRow[]> {
  return (await stage.get(`/api/sessions/${conversation}/ledger`)).body.calls;
}

test.for(["gpt-5.4", "gpt-5.6-sol", "gpt-5.2"])(
  "on %s a session keeps its tools over deploys, each request extends the last, and the ledger counts as the API does",
  async (name) => {
    const from = model.requests.length;
    const MODEL = `openai/${name}`;
    await deploy({ MODEL });
    await turn(
      name,
      "weather?",
      search("weather"),
      [say("Let me see."), call("weather", { text: "here" })],
      say("Rain."),
    );
    await deploy({ MODEL, LATE: "extra" });
    expect(await turn(name, "again", [call("extra"), call("weather")], say("Still rain."))).toEqual({
      text: "Still rain.",
      prefix: "extends",
    });
    await deploy({ MODEL, LATE: "extra", DESCRIPTIONS: " Anew.", ORDER: "reversed" });
    expect((await turn(name, "and now?", call("weather"), say("Sun."))).prefix).toBe("extends");
    const requests = model.requests.slice(from);
    expect(requests.flatMap(({ error, flags }) => [...(error === null ? [] : [error.message]), ...flags])).toEqual([]);
    for (const [index, { bodyText }] of requests.slice(1).entries()) {
      const before = openai.bodyLayout(requests[index]?.bodyText ?? "");
      expect(layoutDifference(before, openai.bodyLayout(bodyText))).toBeNull();
    }
    const rows = await ledger(name);
    expect(rows.map(({ usage }) => usage)).toEqual(
      requests.map(({ usage }) => {
        const { cached_tokens: cacheRead = 0, cache_write_tokens: cacheWrite = 0 } = usage?.input_tokens_details ?? {};
        const input = (usage?.input_tokens ?? 0) - cacheRead - cacheWrite;
        return { input, cacheRead, cacheWrite, output: expect.any(Number) };
      }),
    );
    const read = requests.slice(1).map(({ usage }) => usage?.input_tokens_details.cached_tokens ?? 0);
    expect(read).toEqual(requests.slice(1).map(({ idealCachedTokens }) => idealCachedTokens));
    expect(Math.min(...read)).toBeGreaterThan(1_000);
  },
);

test("a session moves from Anthropic to OpenAI and back with its tools, and comes back to its old prefix", async () => {
  await deploy({ MODEL: "anthropic/claude-sonnet-5" });
  stage.model.script(search("weather"), call("weather", {}, "toolu_1"), say("Rain."));
  expect((await stage.say("moved", "weather?")).text).toBe("Rain.");
  await deploy({ MODEL: "openai/gpt-5.4" });
  expect((await turn("moved", "again?", call("weather"), search("convert"), say("Still."))).prefix).toBe(
    "break; cause=model",
  );
  await deploy({ MODEL: "anthropic/claude-sonnet-5" });
  stage.model.script(call("convert"), say("Converted."));
  const back = await stage.say("moved", "convert");
  expect([back.text, back.headers.get("x-holdfast-prefix")]).toEqual(["Converted.", "extends"]);
});

test("the deployed worker runs on OpenAI where only its base URL is set, and on Anthropic where both are", async () => {
  const keys = { HOLDFAST_MODEL: "", ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "", OPENAI_BASE_URL: model.url };
  const deployed = await startStage({ ...keys, ANTHROPIC_BASE_URL: "" }, { entry: "src/worker.ts" });
  const ask = async () => (await deployed.say(null, "hello", { agent: "assistant" })).text;
  try {
    model.script(say("I am OpenAI's."));
    expect(await ask()).toBe("I am OpenAI's.");
    await deployed.workerd.fresh({ ...keys, ANTHROPIC_BASE_URL: deployed.model.url });
    deployed.model.script(say("I am Anthropic's."));
    expect(await ask()).toBe("I am Anthropic's.");
  } finally {
    await deployed.close();
  }
});

test("where the agent leaves it to the provider, the API's own item goes with the session to a rebuilt object, and no reader sees it", async () => {
  const from = model.requests.length;
  const own = { MODEL: "openai/gpt-5.4", COMPACTION: '{"by":"provider"}' };
  const now = { ...own, COMPACTION: '{"by":"provider","threshold":0.001}' };
  await deploy(own);
  await turn("compacts", "weather?", search("weather"), call("weather", { text: "here" }), say("Rain."));
  await deploy(now);
  await turn("compacts", "and then?", say("It rained."), openai.compact(), say("Sun."));
  await stage.object("compacts", "flushed");
  await stage.workerd.wipeObjects({ INSTRUCTIONS, OPENAI_API_KEY: "key", OPENAI_BASE_URL: model.url, ...own });
  expect((await turn("compacts", "and now?", say("Still."))).prefix).toBe("extends");
  const [, , last = "", summary = "", trigger = "", first = "", second = ""] = model.requests
    .slice(from)
    .map(({ bodyText }) => bodyText);
  const differs = (a: string, b: string) => layoutDifference(openai.bodyLayout(a), openai.bodyLayout(b));
  expect([differs(last, summary), differs(last, trigger), differs(first, second)]).toEqual([null, null, null]);
  expect(JSON.parse(trigger).input.at(-1)).toEqual({ type: "compaction_trigger" });
  const blob = JSON.parse(second).input[1];
  expect(blob).toMatchObject({ type: "compaction", encrypted_content: expect.any(String) });
  expect((await ledger("compacts")).map(({ purpose }) => purpose)).toEqual([
    ...["answer", "answer", "answer", "summary", "summary", "answer", "answer"],
  ]);
  const entries = JSON.stringify((await stage.get("/api/sessions/compacts/entries")).body);
  expect(entries).toContain("It rained.");
  expect(entries).not.toContain(blob.encrypted_content);
});
