import { expectTypeOf } from "vitest";
import { z } from "zod";
import { defineAgent } from "../../src/define/agent.ts";
import { lazy } from "../../src/define/lazy.ts";
import { defineTool } from "../../src/define/tool.ts";
import type { Tool, ToolContext } from "../../src/define/types.ts";

// Checked by tsc, never run.

const save = defineTool({
  name: "save",
  description: "Saves.",
  input: z.object({ title: z.string(), count: z.number().default(1), tag: z.enum(["a", "b"]).optional() }),
  async execute({ title, count, tag }, context) {
    expectTypeOf(title).toEqualTypeOf<string>();
    expectTypeOf(count).toEqualTypeOf<number>();
    expectTypeOf(tag).toEqualTypeOf<"a" | "b" | undefined>();
    expectTypeOf(context).toEqualTypeOf<ToolContext>();
    expectTypeOf(context.env).toEqualTypeOf<Cloudflare.Env>();
    return "saved";
  },
});
expectTypeOf(save).toEqualTypeOf<Tool>();

defineTool({
  name: "transformed",
  description: "What execute gets is the schema's output.",
  input: z.object({ at: z.string().transform((text) => text.length) }),
  execute: ({ at }) => {
    expectTypeOf(at).toEqualTypeOf<number>();
  },
});

defineTool({
  name: "plain",
  description: "Plain JSON Schema.",
  input: { type: "object", properties: { a: { type: "string" } } },
  execute(input, { signal }) {
    expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>();
    expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
  },
});

defineTool({
  name: "none",
  description: "No input.",
  execute: (input, { callId }) => {
    expectTypeOf(input).toEqualTypeOf<Record<string, never>>();
    return callId;
  },
});

defineTool({
  name: "wrong_risk",
  description: "A risk that is not one.",
  // @ts-expect-error: only read, write and destructive
  risk: "harmless",
  execute: () => "",
});

defineTool({
  name: "wrong_timeout",
  description: "A timeout without its unit.",
  // @ts-expect-error: a number with its unit, or milliseconds as a number
  timeout: "10",
  execute: () => "",
});

const agent = defineAgent({
  name: "assistant",
  description: "Helps.",
  model: ({ env }) => env.HOLDFAST_MODEL ?? "demo/scripted",
  instructions: ({ owner, session }) => `You help ${owner.name} in ${session.mode}.`,
  tools: [save, lazy(save), lazy([save], save)],
  modes: { plan: { allow: ["save"] } },
  limits: { steps: 3 },
});
expectTypeOf(agent.tools).toEqualTypeOf<readonly Tool[]>();

// @ts-expect-error: subagents are agents, not names
defineAgent({ name: "a", description: "A.", model: "demo/scripted", subagents: ["b"] });
