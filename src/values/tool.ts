/** What a tool may do to the world, said by its author. `destructive` is refused unless the agent allows it. */
export type Risk = "read" | "write" | "destructive";

/** The part of a tool that a model sees. `inputSchema` is JSON Schema (draft 2020-12) of an object. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/** Names of tools, modes and agents: never integer-like (JSON would re-order it as a key), never `__proto__`. */
export const NAME_PATTERN = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** The search tool's name. Reserved: no other tool can make its evidence. */
export const SEARCH_TOOL = "tool_search";

/** The one function by which tools that joined later are called, where an endpoint can't take them. Reserved too. */
export const BRIDGE_TOOL = "call_tool";

/** The mode that plans are made in, and its tools. Reserved. */
export const PLAN_MODE = "plan";
export const ENTER_PLAN_TOOL = "enter_plan_mode";
export const SUBMIT_PLAN_TOOL = "submit_plan";

/** Hands a task to a subagent. Reserved. */
export const TRANSFER_TOOL = "transfer_task";
