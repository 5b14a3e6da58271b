import { ToolIndex } from "../catalog/tool-index.ts";
import { PLAN_MODE } from "../values/tool.ts";
import { compactionOf, compactionProblem } from "./compaction.ts";
import { DefinitionError } from "./definition-error.ts";
import { modesProblem } from "./modes.ts";
import { duplicates, nameProblem, reservedNames } from "./names.ts";
import { isCount, unknownOptions, unknownOptionsProblem } from "./options.ts";
import { defaultPlanMode, planTools } from "./plan.ts";
import { retentionProblem } from "./retention.ts";
import { settingsProblem } from "./settings.ts";
import { toolProblem } from "./tool.ts";
import { subagentsProblem, transferTools } from "./transfer.ts";
import type { Agent, Compaction, Limits, Mode, Tool } from "./types.ts";

/** What an agent is made of. */
export interface AgentOptions {
  readonly name: string;
  /** What the agent is for: shown in lists, and read by agents that may call it. */
  readonly description: string;
  /** `provider/model`, or a function of the worker's bindings. */
  readonly model: Agent["model"];
  /** Models to be asked when the one before fails before it begins to answer; default none. */
  readonly fallback?: Agent["fallback"];
  /** Fixed per epoch; `maxOutputTokens` defaults to 8 000. */
  readonly settings?: Partial<Agent["settings"]>;
  /** A text, or a function that is asked once and then frozen; default none. */
  readonly instructions?: Agent["instructions"];
  /** Core tools, and lists of tools as `lazy(…)` gives them. */
  readonly tools?: readonly (Tool | readonly Tool[])[];
  /** Modes by name; `agent`, the mode of all tools, is always there. */
  readonly modes?: Readonly<Record<string, Mode>>;
  /**
   * Plan mode: the model may enter it, and leaves it with a plan that its owner approves. The mode `plan` says what is
   * allowed in it; not given, the tools of risk `read`. Default false.
   */
  readonly plan?: boolean;
  /**
   * Agents that this one may hand tasks to, with the tool `transfer_task`. The worker has them among its agents, too. They
   * may have subagents of their own, five deep at most.
   */
  readonly subagents?: readonly Agent[];
  /** Default 50 steps a turn, 5 identical batches of calls in a row, 1 800 seconds and 2 000 000 tokens. */
  readonly limits?: Partial<Limits>;
  /** What a second message does while a turn runs; default `wait`. */
  readonly busy?: Agent["busy"];
  /** Default true. False lets late tools break the prefix instead of adding a search to the history. */
  readonly hostSearch?: boolean;
  /** What becomes of system text that a client sends; default `accept`. */
  readonly clientSystem?: Agent["clientSystem"];
  /** How a context that fills the model's window is made shorter; false leaves that to `POST …/compact`. */
  readonly compaction?: false | Partial<Omit<Compaction, "automatic">>;
  /** Rises to withdraw instructions and descriptions that were frozen; default 1. */
  readonly revision?: number;
  /** Deletes conversations that nobody used for so many days, as their owner could; default never. */
  readonly retentionDays?: number;
  /** Lets tools of risk `destructive` run; default false. */
  readonly allowDestructive?: boolean;
}

const OPTIONS = [
  "name",
  "description",
  "model",
  "fallback",
  "settings",
  "instructions",
  "tools",
  "modes",
  "plan",
  "subagents",
  "limits",
  "busy",
  "hostSearch",
  "clientSystem",
  "compaction",
  "revision",
  "retentionDays",
  "allowDestructive",
];
const LIMITS = { steps: 50, repeats: 5, subrequests: 9_000, seconds: 1_800, tokens: 2_000_000 } as const;
/** Limits that can be set aside. */
const ASIDE: readonly string[] = ["seconds", "tokens"];

/** Makes an agent. Throws {@link DefinitionError} when it can't work as it is defined. */
export function defineAgent(options: AgentOptions): Agent {
  const given = (options.tools ?? []).flat();
  const odd = given.findIndex((tool) => typeof tool?.spec?.name !== "string");
  if (odd >= 0) throw new DefinitionError(`tool number ${odd + 1} is not made by defineTool`, { agent: options.name });
  const { subagents = [] } = options;
  const wrongSubagents = subagentsProblem(options.name, subagents);
  if (wrongSubagents !== null) throw new DefinitionError(wrongSubagents, { agent: options.name });
  const own = [...(options.plan === true ? planTools() : []), ...transferTools(subagents)];
  const tools = [...given.filter((tool) => !tool.lazy), ...own, ...given.filter((tool) => tool.lazy)];
  const plan = options.plan === true && !options.modes?.[PLAN_MODE] ? { [PLAN_MODE]: defaultPlanMode(given) } : {};
  const agent: Agent = {
    name: options.name,
    description: options.description,
    model: options.model,
    fallback: options.fallback ?? [],
    settings: { maxOutputTokens: 8_000, ...options.settings },
    instructions: options.instructions ?? "",
    tools,
    modes: { ...options.modes, ...plan },
    subagents,
    limits: { ...LIMITS, ...options.limits },
    busy: options.busy ?? "wait",
    hostSearch: options.hostSearch ?? true,
    clientSystem: options.clientSystem ?? "accept",
    compaction: compactionOf(options.compaction),
    revision: options.revision ?? 1,
    ...(options.retentionDays === undefined ? {} : { retentionDays: options.retentionDays }),
    allowDestructive: options.allowDestructive ?? false,
    index: new ToolIndex(tools),
  };
  const unknown = unknownOptions(options, OPTIONS);
  const problem =
    unknown.length > 0
      ? unknownOptionsProblem("an agent", unknown, OPTIONS)
      : (planProblem(options) ?? agentProblem(agent));
  if (problem !== null) throw new DefinitionError(problem, { agent: options.name });
  for (const tool of given) {
    const wrong = toolProblem(tool) ?? reservedProblem(tool.spec.name);
    if (wrong !== null) throw new DefinitionError(wrong, { agent: agent.name, tool: tool.spec.name });
  }
  const names = tools.map((tool) => tool.spec.name);
  for (const name of duplicates(names)) {
    throw new DefinitionError("the name is used twice", { agent: agent.name, tool: name });
  }
  const modes = modesProblem(agent.modes, tools);
  if (modes !== null) throw new DefinitionError(modes, { agent: agent.name });
  return agent;
}

function agentProblem(agent: Agent): string | null {
  const named = nameProblem("agent", agent.name);
  if (named !== null) return named;
  if (typeof agent.description !== "string" || agent.description.trim() === "") return "its description is empty";
  if (!isModel(agent.model)) return `model ${JSON.stringify(agent.model)} must be "provider/model" or a function`;
  if (!Array.isArray(agent.fallback) || !agent.fallback.every(isModel)) {
    return 'fallback must be a list of "provider/model" or functions';
  }
  if (!["string", "function"].includes(typeof agent.instructions)) return "instructions must be a text or a function";
  const unknown = unknownOptions(agent.limits, Object.keys(LIMITS));
  if (unknown.length > 0) return unknownOptionsProblem("limits", unknown, Object.keys(LIMITS));
  for (const [limit, value] of Object.entries(agent.limits)) {
    if (value === false && ASIDE.includes(limit)) continue;
    if (!isCount(value, 1)) return `limits.${limit} must be a whole number above 0`;
  }
  if (!["wait", "interrupt", "reject"].includes(agent.busy)) return 'busy must be "wait", "interrupt" or "reject"';
  if (!["accept", "ignore"].includes(agent.clientSystem)) return 'clientSystem must be "accept" or "ignore"';
  if (typeof agent.hostSearch !== "boolean") return "hostSearch must be true or false";
  if (typeof agent.allowDestructive !== "boolean") return "allowDestructive must be true or false";
  if (!isCount(agent.revision, 1)) return "revision must be a whole number above 0";
  return (
    compactionProblem(agent.compaction) ?? retentionProblem(agent.retentionDays) ?? settingsProblem(agent.settings)
  );
}

function planProblem({ plan }: AgentOptions): string | null {
  return plan === undefined || typeof plan === "boolean" ? null : "plan must be true or false";
}

function isModel(model: unknown): model is Agent["model"] {
  return typeof model === "function" || (typeof model === "string" && /^[^/\s]+\/\S+$/.test(model));
}

function reservedProblem(name: string): string | null {
  return reservedNames().has(name) ? "the name is reserved for a tool of the runtime" : null;
}
