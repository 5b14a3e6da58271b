import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SUMMARY_REQUEST } from "../../../src/context/compaction.ts";
import { verdictText } from "../../../src/values/turn-event.ts";
import { call, say } from "../../emulators/common/answer.ts";
import { layoutDifference } from "../../emulators/common/layout.ts";
import { CONTENDERS, type Counted, type Stage } from "./contenders.ts";
import { outcome, type Talk, talk } from "./talk.ts";

const search = (query: string) => call("tool_search", { query });
/** Every call so far used more of the window than this. */
const NOW = { threshold: 0.001 };
const BY_PROVIDER = { by: "provider" } as const;

describe.each(CONTENDERS)("a compaction on $name", (contender) => {
  const { key, model, step, env, provider, start, callLate, layout } = contender;
  const full = `${key}/${model}`;
  let stage: Stage;
  let chat: Talk;
  beforeAll(async () => {
    stage = await start();
  });
  beforeEach(() => {
    chat = talk({ [key]: provider(stage.url) }, env(stage.url));
  });
  afterEach(() => stage.reset());
  afterAll(() => stage?.close());

  /** All that is in the cache once a request was answered: what it read and wrote, or, where a cache has places of its own, up to the last. */
  const cached = ({ input, cacheRead, cacheWrite }: Counted) => {
    const all = input + cacheRead + cacheWrite;
    return step === undefined ? cacheRead + cacheWrite : all - (all % step);
  };
  /** The requests from `n` on, all of them accepted. */
  const asked = (n: number) =>
    stage
      .requests()
      .slice(n)
      .map(({ body, status, visible, counted }) => {
        expect(status).toBe(200);
        return { body, visible, counted: counted ?? { input: 0, cacheRead: 0, cacheWrite: 0 } };
      });
  const differs = (earlier = "", later = "") => layoutDifference(layout(earlier), layout(later));
  const isSummary = (body: string) => body.includes(SUMMARY_REQUEST);
  const verdicts = async () => (await chat.ledger()).map(({ verdict }) => verdictText(verdict));

  test("asks for the summary out of the chain's cache, and the second request after it reads all that the first one wrote", async () => {
    stage.script(search("weather"), callLate("weather"), say("Rain."));
    await chat.say("Weather?", { model: full });
    stage.script(say("It rained."), say("I can't say."), call("clock"), say("Noon."));
    expect(outcome(await chat.say("When?", { model: full, compaction: NOW }))).toBe("end");
    expect(outcome(await chat.say("Time?", { model: full }))).toBe("end");
    const [last, summary, first, second, third] = asked(2);
    expect(isSummary(summary?.body ?? "")).toBe(true);
    expect(differs(last?.body, summary?.body)).toBeNull();
    if (last === undefined || summary === undefined) throw new Error("no summary was asked for");
    expect(summary.counted.cacheRead).toBe(cached(last.counted));
    if (first === undefined || second === undefined || third === undefined) throw new Error("the turn did not go on");
    expect(first.body).toContain("It rained.");
    expect(first.visible).not.toContain("weather");
    expect(cached(first.counted)).toBeGreaterThan(1024);
    expect(differs(first.body, second.body)).toBeNull();
    expect(second.counted.cacheRead).toBe(cached(first.counted));
    expect(third.counted.cacheRead).toBe(cached(second.counted));
    expect((await verdicts()).slice(3)).toEqual(["extends", "break; cause=compaction", "extends", "extends"]);
  });

  const compacts = provider("http://nowhere").facts(model).compacts;
  /** What the provider answers where it compacts, and before it what it is asked for besides. */
  const compaction = compacts === "at_length" ? (["compacted"] as const) : [say("It rained."), "compacted" as const];
  test.runIf(compacts)(
    "that the provider makes is sent back as it came, and resets what a summary of ours resets",
    async () => {
      stage.script(search("weather"), callLate("weather"), say("Rain."));
      await chat.say("Weather?", { model: full, compaction: BY_PROVIDER });
      stage.script(...compaction, say("I can't say."), call("clock"), say("Noon."));
      expect(outcome(await chat.say("When?", { model: full, compaction: { ...NOW, ...BY_PROVIDER } }))).toBe("end");
      expect(outcome(await chat.say("Time?", { model: full, compaction: BY_PROVIDER }))).toBe("end");
      const [last, ...aside] = asked(2);
      const [first, second, third] = aside.splice(compaction.length);
      if (last === undefined) throw new Error("nothing was asked before");
      for (const { body, counted } of aside) {
        expect(differs(last.body, body)).toBeNull();
        expect(counted.cacheRead).toBe(cached(last.counted));
      }
      const entries = await chat.entries();
      const made = entries.find((entry) => entry.kind === "compaction");
      expect(made).toMatchObject({ why: "provider", carriedToolNames: [], block: { model: full } });
      expect(first?.body).toContain(made?.kind === "compaction" ? made.block?.raw : "a compaction");
      expect(first?.body).toContain("When?");
      expect(first?.body).not.toContain("It rained.");
      expect(first?.visible).not.toContain("weather");
      if (first === undefined || second === undefined || third === undefined) throw new Error("the turn did not go on");
      expect(differs(first.body, second.body)).toBeNull();
      expect(second.counted.cacheRead).toBe(cached(first.counted));
      expect(third.counted.cacheRead).toBe(cached(second.counted));
      expect((await verdicts()).slice(-4)).toEqual(["extends", "break; cause=compaction", "extends", "extends"]);
    },
  );
});
