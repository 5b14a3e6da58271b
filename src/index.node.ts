import type {} from "./env.ts";

/**
 * The public names that need no Workers runtime: what `import "holdfast"` gives in Node, for tests of agents and tools.
 * `index.ts` adds what only a Worker can load.
 */

export { defineAgent } from "./define/agent.ts";
export { DefinitionError } from "./define/definition-error.ts";
export { lazy } from "./define/lazy.ts";
export type { Quotas } from "./define/quotas.ts";
export { defineTool } from "./define/tool.ts";
export type { Agent, InstructionContext, Limits, Mode, Question, Tool, ToolContext } from "./define/types.ts";
export { type Authenticator, apiKeys } from "./http/auth.ts";
export type { Provider } from "./providers/contract.ts";
export { type OpenAICompatibleOptions, openaiCompatible } from "./providers/openai-chat/provider.ts";
export { type CodeTurn, type Holdfast, type HoldfastOptions, holdfast } from "./surfaces/holdfast.ts";
export { type RemoteAgentOptions, remoteAgent } from "./toolkit/remote-agent.ts";
export { consoleSpans } from "./turn/console-spans.ts";
export type { HookContext, ModelCall } from "./turn/observe.ts";
export type { Span } from "./turn/span.ts";
export type { Part } from "./values/entry.ts";
export type { Owner } from "./values/owner.ts";
export type { Pause, PauseAnswer } from "./values/pause.ts";
export type { TurnEvent } from "./values/turn-event.ts";
export type { Usage } from "./values/usage.ts";
