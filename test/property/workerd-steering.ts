import type { Answering, Fault, Planned, PlannedCall, Turn } from "./history.ts";
import type { Death } from "./workerd-tasks.ts";

const DEADLY: readonly Fault[] = ["dead_before_headers", "dead_in_stream", "dead_in_tool", "dead_before_send"];

/**
 * Of how many turns the isolate dies, besides those that the history has die; of how many that go on with an answer; and of
 * how many sub-sessions.
 */
const DEATHS = 1 / 4;
const DEATHS_BEHIND_ANSWERS = 1 / 2;
const SUB_DEATHS = 1 / 2;

/** How many turns hand over a task, ask something, or in plan mode submit a plan, besides those that the history has do so. */
const TRANSFERS = 1 / 12;
const QUESTIONS = 1 / 24;
const PLANS = 1 / 2;

const AS_IT_IS: Planned = { text: true, calls: [], fault: null, copied: null };

/**
 * A turn of a history, with what comes up too seldom in so few histories as workerd plays. `mode`: that before it; `calm`: no
 * isolate dies besides those that the history has die.
 */
export function steered(turn: Turn, mode: string, calm: boolean, random: () => number): Turn {
  const calls: PlannedCall[] = [];
  if (random() < TRANSFERS) calls.push({ kind: "transfer", tool: Math.floor(random() * 8) });
  if (random() < QUESTIONS) calls.push({ kind: "ask" });
  if ((turn.mode ?? mode) === "plan" && random() < PLANS) calls.push({ kind: "submit_plan" });
  const [first = AS_IT_IS, ...rest] = turn.answers;
  const answers =
    calls.length === 0 ? turn.answers : [{ ...first, calls: [...calls, ...first.calls.slice(0, 1)] }, ...rest];
  return {
    ...turn,
    answers: mortal(answers, calm ? 0 : DEATHS, random),
    pauses: turn.pauses && {
      ...turn.pauses,
      answers: mortal(turn.pauses.answers, calm ? 0 : DEATHS_BEHIND_ANSWERS, random),
    },
  };
}

/** Where the isolate of a sub-session dies, if it does. */
export function deathOf(random: () => number): Death | null {
  return random() < SUB_DEATHS ? { at: Math.floor(random() * 3), fault: deadly(random) } : null;
}

function mortal(answers: Answering["answers"], odds: number, random: () => number): Planned[] {
  const mortal = [...answers];
  if (random() >= odds) return mortal;
  const fault = deadly(random);
  const at = Math.min(Math.floor(random() * 3), mortal.length);
  mortal[at] = { ...(mortal[at] ?? AS_IT_IS), fault };
  return mortal;
}

function deadly(random: () => number): Fault {
  return DEADLY[Math.floor(random() * DEADLY.length)] ?? "cut";
}
