import { env } from "cloudflare:workers";
import { type Agent, apiKeys, defineAgent, defineTool, holdfast, lazy, openaiCompatible } from "../../src/index.ts";
import type { ToolSpec } from "../../src/values/tool.ts";
import { CORE_SPECS, LATE_SPEC, LAZY_SPECS, resultOf, SYSTEM } from "./catalog.ts";

export { SessionObject } from "../../src/index.ts";

/**
 * `LATE` is set once the server with the late tool is connected; with `COMPACT` a conversation is compacted before its
 * next call, by the provider where it can.
 */
const { LATE, COMPACT, CHAT_URL } = env as unknown as {
  readonly LATE?: string;
  readonly COMPACT?: string;
  readonly CHAT_URL: string;
};

const tool = (spec: ToolSpec) =>
  defineTool({
    name: spec.name,
    description: spec.description,
    input: spec.inputSchema,
    risk: "read",
    execute: (input) => resultOf(spec.name, input),
  });

const agent = (name: string, model: string, settings: Agent["settings"]) =>
  defineAgent({
    name,
    description: "The agent of the cache benchmark.",
    model,
    settings,
    instructions: SYSTEM,
    ...(COMPACT ? { compaction: { by: "provider", threshold: 0.001 } } : {}),
    tools: [...[...CORE_SPECS, ...(LATE ? [LATE_SPEC] : [])].map(tool), lazy(LAZY_SPECS.map(tool))],
  });

export default holdfast({
  agents: [
    agent("plain", "anthropic/claude-sonnet-5", { maxOutputTokens: 8_000 }),
    agent("bound", "anthropic/claude-sonnet-5-5", { maxOutputTokens: 8_000, thinking: true }),
    agent("steps", "openai/gpt-5.4", { maxOutputTokens: 8_000 }),
    agent("boundaries", "openai/gpt-5.6-sol", { maxOutputTokens: 8_000 }),
    agent("chat", "acme/acme-1", { maxOutputTokens: 8_000 }),
    agent("bridge", "bridged/acme-bridge", { maxOutputTokens: 8_000 }),
  ],
  providers: {
    acme: openaiCompatible({ baseURL: CHAT_URL }),
    bridged: openaiCompatible({ baseURL: CHAT_URL, deferral: "bridge" }),
  },
  auth: [apiKeys()],
});
