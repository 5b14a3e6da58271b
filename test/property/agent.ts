import * as z from "zod";
import { defineAgent } from "../../src/define/agent.ts";
import { planTools } from "../../src/define/plan.ts";
import { defineTool } from "../../src/define/tool.ts";
import { transferTools } from "../../src/define/transfer.ts";
import type { Agent, Mode, Tool } from "../../src/define/types.ts";
import { applyDeploy, type Deployment, modelOf } from "./deployment.ts";
import type { History } from "./history.ts";
import { canary, EDITIONS, echo, memo, toolName } from "./tools.ts";

/** Runs while a tool named `hang` does; throws or waits as the ring wants. */
export type Hang = (callId: string) => Promise<string>;

/**
 * The agent of the rings. Its tools come and go with `deployment`, as those of an MCP server do, and each says a text
 * that occurs nowhere else, so that a result that is missing or in the wrong place is noticed.
 */
export function ringAgent(
  name: string,
  {
    model,
    fallback,
    thinking,
    textual = false,
    byProvider = false,
  }: Pick<History, "model" | "fallback" | "thinking"> & Partial<Pick<History, "textual" | "byProvider">>,
  deployment: () => Deployment,
  hang: Hang,
  helper: Agent | null = null,
): Agent {
  const base = defineAgent({
    name,
    description: "The agent of a history.",
    // Each agent has providers of its own.
    model: () => `${name}-${modelOf(model, deployment())}`,
    fallback: fallback === null ? [] : [`${name}-${fallback}`],
    settings: {
      maxOutputTokens: 4_000,
      ...(thinking ? { thinking: 1024 } : {}),
    },
    tools: [echo("note", 0)],
    ...(byProvider ? { compaction: { by: "provider" } } : {}),
    limits: { steps: 1000, repeats: 1000 },
  });
  const install = defineTool({
    name: "install",
    description: "Adds a tool.",
    risk: "read",
    input: z.object({ tool: z.number() }),
    execute({ tool }, { callId }) {
      applyDeploy(deployment(), { kind: "add", tool });
      return `Installed. ${canary(callId)}`;
    },
  });
  const fixed: Tool[] = [
    defineTool({
      name: "fail",
      description: "Fails.",
      risk: "read",
      execute(_, { callId }) {
        throw new Error(`It failed. ${canary(callId)}`);
      },
    }),
    install,
    hanging(hang),
    ...(helper === null ? [] : [asking, ...planTools(), ...transferTools([helper])]),
    defineTool({ name: "once", description: "Waits, once.", risk: "read", execute: (_, { callId }) => hang(callId) }),
  ];
  const shown = memo((key: string) => {
    const { late, gone, edition, shuffle }: Deployment = JSON.parse(key);
    const all = EDITIONS(edition);
    const tools = [...all.core, ...fixed, ...all.late.filter((_, index) => late.includes(index)), ...all.lazy].filter(
      ({ spec }) => !gone.some((tool) => toolName(tool) === spec.name),
    );
    const turn = shuffle % tools.length;
    return [...tools.slice(turn), ...tools.slice(0, turn)];
  });
  // Long enough that every model caches it.
  const text = () => {
    const { revision, instructions } = deployment();
    return `You are ${name}, revision ${revision}, edition ${instructions}. ${"Keep to the point. ".repeat(150)}`;
  };
  const { index: _, ...rest } = base;
  return {
    ...rest,
    get instructions() {
      return textual ? text() : text;
    },
    ...(helper === null ? {} : { modes: MODES, subagents: [helper] }),
    // A deploy may move the agent to what it falls back on: that model is not asked twice.
    get fallback() {
      return fallback === null || fallback === modelOf(model, deployment()) ? [] : [`${name}-${fallback}`];
    },
    get revision() {
      return deployment().revision;
    },
    get tools() {
      return shown(JSON.stringify(deployment()));
    },
  };
}

/** Some tools of each kind are allowed in each, and some are not. */
export const MODES: Readonly<Record<string, Mode>> = {
  plan: { allow: ["note", "fail", "ask", "hang", "transfer_task", "lazy_1", "lazy_2", "lazy_3", "late_0", "late_1"] },
  careful: { allow: ["note", "once", "enter_plan_mode", "lazy_*", "late_2"], core: ["lazy_0"] },
};

/** The name of the agent that an agent of the rings hands its tasks to. */
export function helperOf(agent: string): string {
  return `${agent}-helper`;
}

function hanging(hang: Hang): Tool {
  return defineTool({
    name: "hang",
    description: "Waits.",
    risk: "read",
    idempotent: true,
    execute: (_, { callId }) => hang(callId),
  });
}

const asking = defineTool({
  name: "ask",
  description: "Asks the user.",
  risk: "read",
  execute: (_, { ask }) => ask("Which one?"),
});

/**
 * The agent that tasks of the agent `of` are handed to. Its tools are never deployed anew. `hang` as above; null: no such
 * tool. Named otherwise, and with subagents of its own, where it is said.
 */
export function ringHelper(
  of: string,
  { model }: Pick<History, "model">,
  deployment: () => Deployment,
  hang: Hang | null = null,
  { name = helperOf(of), subagents = [] }: { readonly name?: string; readonly subagents?: readonly Agent[] } = {},
): Agent {
  return defineAgent({
    name,
    description: "Works on tasks.",
    model: () => `${of}-${modelOf(model, deployment())}`,
    instructions: `You are ${name}. ${"Keep to the task. ".repeat(150)}`,
    tools: [...EDITIONS(0).core, ...(hang === null ? [] : [hanging(hang)]), ...EDITIONS(0).lazy],
    subagents,
    limits: { steps: 1000, repeats: 1000 },
  });
}
