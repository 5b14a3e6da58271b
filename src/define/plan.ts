import * as z from "zod";
import { ModeSwitch } from "../values/mode-switch.ts";
import { Ask } from "../values/pause.ts";
import { ENTER_PLAN_TOOL, PLAN_MODE, SUBMIT_PLAN_TOOL } from "../values/tool.ts";
import { defineTool } from "./tool.ts";
import type { Mode, Tool } from "./types.ts";

/** Far more than a plan needs, and far below what a row takes. */
const MOST_CHARS = 100_000;

/** The tools of an agent with `plan: true`: the one leads into plan mode, the other one asks for the way out of it. */
export function planTools(): Tool[] {
  return [
    defineTool({
      name: ENTER_PLAN_TOOL,
      description:
        "Enters plan mode. Use it before work that is large or hard to undo: in plan mode you look into things without " +
        `changing them, write a plan, and submit it with ${SUBMIT_PLAN_TOOL} for the user's approval.`,
      risk: "read",
      idempotent: true,
      execute: () =>
        new ModeSwitch(
          PLAN_MODE,
          "You are in plan mode now. Look into what the plan needs with the tools that you have, and change nothing. " +
            `When the plan is ready, call ${SUBMIT_PLAN_TOOL} with the whole of it.`,
        ),
    }),
    defineTool({
      name: SUBMIT_PLAN_TOOL,
      description:
        "Only in plan mode: submits the plan, whole and in Markdown, for the user's approval. Once it is approved you are " +
        "out of plan mode and carry it out; if it is not, you get the reason and go on planning.",
      risk: "read",
      // Asking again is all that running it again does.
      idempotent: true,
      input: z.object({ plan: z.string().trim().min(1).max(MOST_CHARS) }),
      execute: ({ plan }) => new Ask({ kind: "plan", plan }),
    }),
  ];
}

/** Plan mode where an agent does not say what it allows: the tools that only read. */
export function defaultPlanMode(tools: readonly Tool[]): Mode {
  return { allow: tools.filter(({ risk }) => risk === "read").map(({ spec }) => spec.name) };
}
