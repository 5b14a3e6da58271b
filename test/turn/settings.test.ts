import { describe, expect, test } from "vitest";
import { anthropic } from "../../src/providers/anthropic/provider.ts";
import { type Asked, ignoredSettings, resolveModels, turnSettings } from "../../src/turn/settings.ts";
import { agent } from "../http/stand-ins.ts";

const runtime = { agents: [], provider: (name: string) => (name === "anthropic" ? anthropic : undefined) };
// The settings are asked for nothing else.
const env = { ANTHROPIC_API_KEY: "key" } as Cloudflare.Env;

/** What a request to that model gets of the sampling asked for, and what is said to be ignored. */
function asked(model: string, call: Asked["call"], thinking = false) {
  const base = agent("a", `anthropic/${model}`);
  const own = { ...base, settings: { ...base.settings, thinking } };
  const request = { call, epoch: {} };
  const { maxOutputTokens: _, ...taken } = turnSettings(own, resolveModels(runtime, own, env)[0], request).call;
  return { taken, ignored: ignoredSettings(runtime, own, env, request) };
}

describe("the sampling that a caller asks for", () => {
  test.each(["claude-haiku-4-5", "claude-sonnet-4-6", "claude-opus-4-1", "claude-nobody-knows"])(
    "is given to %s as far as Anthropic takes it, and the rest is named",
    (model) => {
      expect(asked(model, { temperature: 1 })).toEqual({ taken: { temperature: 1 }, ignored: [] });
      expect(asked(model, { topP: 0.9 })).toEqual({ taken: { topP: 0.9 }, ignored: [] });
      expect(asked(model, { temperature: 1.5 })).toEqual({ taken: { temperature: 1 }, ignored: ["temperature"] });
      expect(asked(model, { temperature: 0, topP: 0.9 })).toEqual({ taken: { temperature: 0 }, ignored: ["top_p"] });
      expect(asked(model, { temperature: 2, topP: 1 })).toEqual({
        taken: { temperature: 1 },
        ignored: ["temperature", "top_p"],
      });
    },
  );

  test("is ignored by models that take none, and while a model thinks", () => {
    const none = { taken: {}, ignored: ["temperature", "top_p"] };
    expect(asked("claude-sonnet-5", { temperature: 0.5, topP: 0.9 })).toEqual(none);
    expect(asked("claude-haiku-4-5", { temperature: 0.5, topP: 0.9 }, true)).toEqual(none);
    expect(asked("claude-haiku-4-5", {}, true)).toEqual({ taken: {}, ignored: [] });
  });
});

test("a model that an agent names twice is asked once: it is no other one to fall back on", () => {
  const own = {
    ...agent("a", "anthropic/claude-sonnet-5"),
    fallback: ["anthropic/claude-opus-5", () => "anthropic/claude-sonnet-5"],
  };
  expect(resolveModels(runtime, own, env).map(({ full }) => full)).toEqual([
    "anthropic/claude-sonnet-5",
    "anthropic/claude-opus-5",
  ]);
});
