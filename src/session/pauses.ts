import { AGENT_MODE } from "../catalog/catalog.ts";
import { callsOf, openBatch } from "../context/effective.ts";
import type { AssistantEntry, Entry, Numbered, PauseEntry, ToolResult } from "../values/entry.ts";
import { type Pause, type PauseAnswer, sameAnswer } from "../values/pause.ts";
import type { AnswerOutcome } from "./contract.ts";
import type { SessionRow } from "./store.ts";

/** The calls of a pause: those that wait, and what was answered of them so far. */
export interface Paused {
  readonly seq: number;
  readonly entry: PauseEntry;
  readonly answers: ReadonlyMap<string, PauseAnswer>;
}

/** The pause of an assistant entry whose batch has no results yet; null where nothing waits. */
export function pausedAt(effective: readonly Numbered[], of: number): Paused | null {
  return all(effective).find(({ entry }) => entry.of === of) ?? null;
}

/** The pause that a context ends with; null where nothing waits. */
export function waitingPause(effective: readonly Numbered[]): Paused | null {
  const open = openBatch(effective);
  return open === null ? null : pausedAt(effective, open.seq);
}

/** Those of its calls that nobody answered yet. */
export function openPauses({ entry, answers }: Paused): Pause[] {
  return entry.pauses.filter(({ id }) => !answers.has(id));
}

/**
 * Decides about an answer, given the effective context and how the newest turn stands. `new` is to be stored as an answer
 * to the pause entry `of`; everything else is the outcome.
 */
export function judgeAnswer(
  effective: readonly Numbered[],
  status: SessionRow["status"],
  pause: string,
  answer: PauseAnswer,
): { readonly kind: "new"; readonly of: number; readonly goesOn: boolean } | AnswerOutcome {
  const asked = all(effective).find(({ entry }) => entry.pauses.some(({ id }) => id === pause));
  const kind = asked?.entry.pauses.find(({ id }) => id === pause)?.kind;
  if (asked === undefined || kind === undefined) return { kind: "unknown" };
  if (kind !== answer.kind) return { kind: "mismatch", asks: kind };
  const given = asked.answers.get(pause);
  const waiting = status === "paused" ? waitingPause(effective) : null;
  const open = waiting?.seq === asked.seq ? openPauses(asked) : [];
  if (given === undefined && open.length > 0) return { kind: "new", of: asked.seq, goesOn: open.length === 1 };
  if (given === undefined) return { kind: "closed", by: "message" };
  if (!sameAnswer(given, answer)) return { kind: "closed", by: "answer" };
  // The answer may have been stored by one who then failed to go on with the turn.
  return { kind: "answered", goesOn: open.length === 0 && (status === "paused" || status === "running") };
}

/** What the model reads of a call that nobody answered: its owner sent a message instead. */
export const NOT_ANSWERED = "Nobody answered this. A message follows instead.";

/**
 * What a pause comes to: the results of its batch, complete and in the order of the calls, and behind them what an
 * approved plan brings. What was not answered was closed by the message that follows.
 */
export function settlePause(
  open: Numbered<AssistantEntry>,
  { entry, answers }: Paused,
  now: number,
): { made: Entry[]; mode: string | null } {
  const head = { v: 1, origin: "runtime", at: now, turn: open.entry.turn } as const;
  const results = callsOf(open.entry).map(({ id, name }): ToolResult => {
    const known = entry.results.find(({ call }) => call === id);
    if (known !== undefined) return known;
    const pause = entry.pauses.find(({ call }) => call === id);
    const answer = pause === undefined ? undefined : answers.get(pause.id);
    const { status, text } = answer === undefined ? NOBODY : answerResult(answer, noteOf(pause));
    return { call: id, name, status, content: [{ type: "text", text }] };
  });
  const made: Entry[] = [{ ...head, kind: "results", of: open.seq, results }];
  const plan = approvedPlan(entry.pauses, answers);
  if (plan === null) return { made, mode: null };
  const content = [{ type: "text", text: approvedText(plan) }] as const;
  made.push({ ...head, kind: "mode_change", mode: AGENT_MODE }, { ...head, kind: "user", content });
  return { made, mode: AGENT_MODE };
}

/** As if no plan had been approved: what the approval allowed never began. */
export function withoutApproval(paused: Paused): Paused {
  const answers = [...paused.answers].filter(([, answer]) => answer.kind !== "plan" || answer.decision !== "approve");
  return { ...paused, answers: new Map(answers) };
}

function approvedPlan(pauses: readonly Pause[], answers: Paused["answers"]): string | null {
  const approved = pauses.findLast(({ id }) => {
    const answer = answers.get(id);
    return answer?.kind === "plan" && answer.decision === "approve";
  });
  return approved?.kind === "plan" ? approved.plan : null;
}

/** The internal message that lets the model carry an approved plan out (PI-Desktop's `executeApprovedPlan`). */
function approvedText(plan: string): string {
  return `The plan below was approved. Carry it out now; all tools of the mode ${AGENT_MODE} are available again.\n\n${plan}`;
}

const NOBODY = { status: "interrupted", text: NOT_ANSWERED } as const;

function noteOf(pause: Pause | undefined): string | null {
  return pause?.kind === "question" ? (pause.note ?? null) : null;
}

function answerResult(
  answer: PauseAnswer,
  note: string | null,
): { readonly status: "ok" | "denied"; readonly text: string } {
  if (answer.kind === "question") {
    return { status: "ok", text: note === null ? answer.answer : `${note}\n\nThe answer: ${answer.answer}` };
  }
  if (answer.decision === "approve") return { status: "ok", text: "The plan was approved." };
  const why = answer.reason === null ? "" : ` The reason: ${answer.reason}`;
  return { status: "denied", text: `The plan was not approved.${why}` };
}

/** Every pause of a context, with its answers; the newest first. */
function all(effective: readonly Numbered[]): Paused[] {
  const answers = new Map<number, Map<string, PauseAnswer>>();
  for (const { entry } of effective) {
    if (entry.kind !== "pause_answer") continue;
    const given = answers.get(entry.of) ?? new Map<string, PauseAnswer>();
    answers.set(entry.of, given.set(entry.pause, entry.answer));
  }
  return effective
    .flatMap(({ seq, entry }) =>
      entry.kind === "pause" ? [{ seq, entry, answers: answers.get(seq) ?? new Map() }] : [],
    )
    .toReversed();
}
