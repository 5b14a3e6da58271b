import { apiKeys, defineAgent, holdfast, lazy } from "./index.ts";
import { everyday, occasional } from "./toolkit/toolkit.ts";

export { SessionObject, TurnRunner } from "./index.ts";

const assistant = defineAgent({
  name: "assistant",
  description: "A general assistant with tools for dates, units, text, colours, numbers and data.",
  model: ({ env }) => {
    if (env.HOLDFAST_MODEL) return env.HOLDFAST_MODEL;
    if (env.ANTHROPIC_API_KEY || env.ANTHROPIC_BASE_URL) return "anthropic/claude-sonnet-5";
    if (env.OPENAI_API_KEY || env.OPENAI_BASE_URL) return "openai/gpt-5.4";
    return "demo/scripted";
  },
  instructions: ({ owner }) =>
    `You are a helpful assistant. You talk with ${owner.name}. Answer briefly and in the language of the question. ` +
    "Use a tool wherever it is surer than working something out in your head; tool_search finds and loads more of them.",
  tools: [...everyday, lazy(occasional)],
  modes: { plan: { allow: ["clock", "calculator", "date_*", "statistics"] } },
});

export default holdfast({ agents: [assistant], auth: [apiKeys()] });
