import { acceptsAll, refusesAll, useAcceptingEmulator } from "./refusals.ts";
import * as s from "./support.ts";

const emulator = useAcceptingEmulator();
const budget = { max_tokens: 4096, thinking: { type: "enabled", budget_tokens: 2048 } };

refusesAll(emulator, [
  {
    rule: "E-A31",
    what: "a forced tool on a model that refuses it",
    body: s.request({ tools: [s.tool("look")], model: "claude-opus-5-5", tool_choice: { type: "any" } }),
    message: "tool_choice: type 'any' is not supported on this model",
  },
  {
    rule: "E-A31",
    what: "a thinking budget on an adaptive model",
    body: s.request(budget),
    message:
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
  },
  {
    rule: "E-A31",
    what: "an effort the model does not have",
    body: s.request({ model: "claude-opus-4-6", output_config: { effort: "xhigh" } }),
    message: "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
  },
  {
    rule: "E-A31",
    what: "a temperature on a newer model",
    body: s.request({ temperature: 0.5 }),
    message: "`temperature` is not supported on this model",
  },
  {
    rule: "E-A31",
    what: "a tool search on an old model",
    body: s.request({ model: "claude-opus-4-1", tools: [s.tool("look"), s.tool("later", { defer_loading: true })] }),
    message: "'claude-opus-4-1' does not support tool types: defer_loading",
  },
  {
    rule: "E-A31",
    what: "warming the cache with a stream",
    body: s.request({ max_tokens: 0, stream: true }),
    message: "max_tokens: 0 cannot be used with stream, thinking, structured output or a forced tool choice",
  },
  {
    rule: "E-A31",
    what: "a prompt beyond the window",
    body: s.request({ model: "claude-sonnet-4-5", messages: [s.user(s.words(200_001))] }),
    message: "prompt is too long: 200009 tokens > 200000 maximum",
  },
]);

acceptsAll(emulator, [
  ["a thinking budget on an older model", s.request({ ...budget, model: "claude-sonnet-4-6" })],
  ["a temperature on an older model", s.request({ model: "claude-haiku-4-5-20251001", temperature: 0.5, top_k: 3 })],
  ["every effort on a newer model", s.request({ output_config: { effort: "xhigh" } })],
  ["warming the cache", s.request({ max_tokens: 0 })],
]);
