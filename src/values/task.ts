import type { Pause } from "./pause.ts";

/**
 * How a task stands. A task is a turn as agents see it that call us (A2A, specification §4.1.3): it works, waits for an
 * answer, or is over.
 */
export type TaskState = "working" | "input_required" | "completed" | "failed" | "canceled";

/** Whether nothing more will come of a task. */
export function isOver(state: TaskState): boolean {
  return state === "completed" || state === "failed" || state === "canceled";
}

/** What was said in a turn, in order: text, all steps up to the next pause joined, and the pauses. */
export type Said =
  | { readonly kind: "text"; readonly text: string }
  /** `open`: those that nobody answered yet. */
  | { readonly kind: "pause"; readonly pauses: readonly Pause[]; readonly open: readonly Pause[] };

/** A task as its session keeps it. Times in milliseconds since the epoch. */
export interface TaskRecord {
  /** The turn that it is. */
  readonly turn: string;
  readonly state: TaskState;
  readonly createdAt: number;
  /** When it came to stand so. */
  readonly at: number;
  /** Why it failed; null unless it did. */
  readonly failure: string | null;
  /** The messages that its caller sent, as JSON texts in the surface's own form. */
  readonly messages: readonly string[];
  readonly said: readonly Said[];
}

/** The pauses that a task waits for. */
export function waitsFor({ state, said }: TaskRecord): readonly Pause[] {
  const last = state === "input_required" ? said.findLast(({ kind }) => kind === "pause") : undefined;
  return last?.kind === "pause" ? last.open : [];
}
