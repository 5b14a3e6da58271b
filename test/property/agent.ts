import { createHash } from "node:crypto";
import * as z from "zod";
import { defineAgent } from "../../src/define/agent.ts";
import { lazy } from "../../src/define/lazy.ts";
import { planTools } from "../../src/define/plan.ts";
import { defineTool } from "../../src/define/tool.ts";
import { transferTools } from "../../src/define/transfer.ts";
import type { Agent, Tool } from "../../src/define/types.ts";
import { type Deploy, type History, LATE, LAZY, type Model } from "./history.ts";

/** What is deployed at a moment: changed by a history's deploys and by `install`. */
export interface Deployment {
  readonly late: number[];
  readonly gone: number[];
  edition: number;
  shuffle: number;
  /** Another renderer than the first one. */
  renderer: boolean;
  /** How often the instructions were reworded. */
  instructions: number;
  revision: number;
  /** Another model than the first one. */
  model: Model | null;
}

export function firstDeployment(): Deployment {
  return { late: [], gone: [], edition: 0, shuffle: 0, renderer: false, instructions: 0, revision: 1, model: null };
}

export function applyDeploy(deployment: Deployment, deploy: Deploy): void {
  const drop = (list: number[], tool: number) => {
    if (list.includes(tool)) list.splice(list.indexOf(tool), 1);
  };
  switch (deploy.kind) {
    case "add":
      drop(deployment.gone, LAZY + deploy.tool);
      if (!deployment.late.includes(deploy.tool)) deployment.late.push(deploy.tool);
      return;
    case "remove":
      // The same again brings it back.
      if (deployment.gone.includes(deploy.tool)) drop(deployment.gone, deploy.tool);
      else deployment.gone.push(deploy.tool);
      return;
    case "edit":
      deployment.edition += 1;
      return;
    case "shuffle":
      deployment.shuffle += deploy.by;
      return;
    case "renderer":
      deployment.renderer = !deployment.renderer;
      return;
    case "instructions":
      deployment.instructions += 1;
      return;
    case "revise":
      deployment.revision += 1;
      return;
    case "model":
      deployment.model = deploy.to;
      return;
  }
}

/** The name of a tool by its number in a history: lazy ones first, then those that come late. */
export function toolName(tool: number): string {
  return tool < LAZY ? `lazy_${tool}` : `late_${tool - LAZY}`;
}

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
    defineTool({
      name: "hang",
      description: "Waits.",
      risk: "read",
      idempotent: true,
      execute: (_, { callId }) => hang(callId),
    }),
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
const MODES = {
  plan: { allow: ["note", "fail", "ask", "hang", "transfer_task", "lazy_1", "lazy_2", "lazy_3", "late_0", "late_1"] },
  careful: { allow: ["note", "once", "enter_plan_mode", "lazy_*", "late_2"], core: ["lazy_0"] },
};

const asking = defineTool({
  name: "ask",
  description: "Asks the user.",
  risk: "read",
  execute: (_, { ask }) => ask("Which one?"),
});

/** The agent that tasks are handed to. Its tools are never deployed anew. */
export function ringHelper(name: string, { model }: Pick<History, "model">, deployment: () => Deployment): Agent {
  return defineAgent({
    name: "helper",
    description: "Works on tasks.",
    model: () => `${name}-${modelOf(model, deployment())}`,
    instructions: `You are the helper. ${"Keep to the task. ".repeat(150)}`,
    tools: [...EDITIONS(0).core, ...EDITIONS(0).lazy],
    limits: { steps: 1000, repeats: 1000 },
  });
}

/** The tools of each edition of the worker; they keep nothing between calls. */
const EDITIONS = memo((edition: number) => ({
  core: [echo("note", edition)],
  lazy: lazy(Array.from({ length: LAZY }, (_, index) => echo(toolName(index), edition))),
  late: Array.from({ length: LATE }, (_, index) => echo(toolName(LAZY + index), edition)),
}));

/** The model that the agent runs on now. */
export function modelOf(first: Model, { model }: Deployment): Model {
  return model ?? first;
}

/** A text that occurs only in the result of this call. */
export function canary(callId: string): string {
  return `canary-${createHash("sha256").update(callId).digest("hex").slice(0, 12)}`;
}

function echo(name: string, edition: number): Tool {
  return defineTool({
    name,
    description: `Notes a text under ${name}.${edition === 0 ? "" : ` Edition ${edition}.`}`,
    risk: "read",
    idempotent: true,
    input: {
      type: "object",
      properties: { text: { type: "string" }, ...(edition % 2 === 1 ? { volume: { type: "number" } } : {}) },
    },
    execute: (_, { callId }) => `Noted by ${name}. ${canary(callId)}`,
  });
}

function memo<K, T>(make: (key: K) => T): (key: K) => T {
  const made = new Map<K, T>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}
