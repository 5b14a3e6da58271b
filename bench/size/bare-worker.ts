import { apiKeys, defineAgent, defineTool, holdfast } from "../../src/index.ts";

export { SessionObject } from "../../src/index.ts";

/** The runtime with one small tool, whose input is plain JSON Schema: what a user's worker starts with. */
const echo = defineTool({
  name: "echo",
  description: "Repeats a text.",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  execute: ({ text }) => String(text),
});

const agent = defineAgent({
  name: "assistant",
  description: "Repeats.",
  model: "anthropic/claude-sonnet-5",
  tools: [echo],
});

export default holdfast({ agents: [agent], auth: [apiKeys()] });
