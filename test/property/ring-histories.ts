import fc from "fast-check";
import { deploy, historiesOf, lazyTool, plannedCall, plannedShape, turnShape } from "./histories.ts";
import {
  FAULTS,
  type Fault,
  type Handed,
  type History,
  LEAVINGS,
  MODELS,
  type Planned,
  type PlannedCall,
  type Revival,
  SUMMARY_FAULTS,
  type SummaryFault,
  TASK_EVENTS,
  type TaskEvent,
  type Turn,
} from "./history.ts";

/** What ring (a) plays besides what both rings do: turns that others take up, and what becomes of the tasks they handed over. */

const taskEvent: fc.Arbitrary<TaskEvent> = fc.record({
  what: fc.oneof(
    { weight: 3, arbitrary: fc.constant("dead" as const) },
    { weight: 2, arbitrary: fc.constantFrom(...TASK_EVENTS) },
  ),
  at: fc.nat(2),
  below: fc.boolean(),
});

const handed: fc.Arbitrary<Handed> = fc.record({
  below: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(lazyTool, { minLength: 1, maxLength: 2 }) },
  ),
  events: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(taskEvent, { minLength: 1, maxLength: 2 }) },
  ),
});

const transfer: fc.Arbitrary<PlannedCall> = fc
  .tuple(lazyTool, handed)
  .map(([tool, behind]) => ({ kind: "transfer", tool, ...behind }));

const call: fc.Arbitrary<PlannedCall> = fc.oneof(
  { weight: 24, arbitrary: plannedCall },
  { weight: 1, arbitrary: transfer },
);

const fault: fc.Arbitrary<Fault | null> = fc.oneof(
  { weight: 30, arbitrary: fc.constant(null) },
  { weight: 6, arbitrary: fc.constantFrom<Fault>(...FAULTS) },
  { weight: 4, arbitrary: fc.constantFrom<Fault>(...LEAVINGS, "dead_in_tool", "dead_before_send") },
);

const planned: fc.Arbitrary<Planned> = fc.record({
  ...plannedShape,
  calls: fc.oneof(
    { weight: 12, arbitrary: fc.array(call, { minLength: 1, maxLength: 3 }) },
    { weight: 2, arbitrary: fc.array(fc.constant<PlannedCall>({ kind: "fail" }), { minLength: 1, maxLength: 2 }) },
    { weight: 2, arbitrary: fc.constant([]) },
    // More blocks than a provider looks back over from a cache marker.
    { weight: 1, arbitrary: fc.array(fc.constant<PlannedCall>({ kind: "note" }), { minLength: 11, maxLength: 13 }) },
    // Tasks side by side.
    { weight: 1, arbitrary: fc.array(transfer, { minLength: 2, maxLength: 4 }) },
  ),
  fault,
});

const DEADLY = ["dead_before_headers", "dead_in_stream", "dead_before_send", "dead_before_calls"] as const;

const answers = (most: number) => fc.array(planned, { minLength: 0, maxLength: most });

const revival: fc.Arbitrary<Revival> = fc.record({
  how: fc.oneof(
    { weight: 8, arbitrary: fc.constant("goes_on" as const) },
    { weight: 1, arbitrary: fc.constantFrom("stopped" as const, "deleted" as const) },
  ),
  // Words of the instructions are compared where a message comes, and none does.
  deploy: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: deploy.filter(({ kind }) => kind !== "instructions").map((one) => [one]) },
  ),
  answers: answers(2),
  order: fc.constantFrom("parent" as const, "subs" as const, "at_once" as const),
  forgets: fc.boolean(),
  lost: fc.oneof({ weight: 2, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

const summaryFault: fc.Arbitrary<SummaryFault> = fc.oneof(
  { weight: 3, arbitrary: fc.constant("none" as const) },
  { weight: 3, arbitrary: fc.constantFrom<SummaryFault>(...SUMMARY_FAULTS.slice(1)) },
  { weight: 2, arbitrary: fc.constant("dead_after" as const) },
);

const turn: fc.Arbitrary<Turn> = fc.record({
  ...turnShape,
  summaries: fc.array(summaryFault, { maxLength: 2 }),
  answers: answers(4),
  pauses: fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 5, arbitrary: fc.record({ approve: fc.boolean(), answers: answers(2) }) },
  ),
  background: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  revivals: fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(revival, { minLength: 1, maxLength: 3 }) },
  ),
});

/** A plan, and what is decided about it. */
const planAndAnswer: fc.Arbitrary<Turn[]> = fc
  .tuple(turn, turn, answers(2), fc.boolean())
  .map(([submitting, after, next, approve]): Turn[] => {
    const submits: Planned = { text: false, calls: [{ kind: "submit_plan" }], fault: null, copied: null };
    return [
      { ...submitting, mode: "plan", client: "message", background: false, answers: [submits] },
      { ...after, pauses: { approve, answers: next } },
    ];
  });

/** A turn whose isolates die again and again. */
const dying: fc.Arbitrary<Turn[]> = fc
  .tuple(turn, fc.array(fc.tuple(revival, planned, fc.constantFrom(...DEADLY)), { minLength: 3, maxLength: 3 }))
  .map(([first, deaths]): Turn[] => {
    const answers = deaths.map(([, one, fault]): Planned[] => [{ ...one, fault }]);
    const revivals = deaths.map(([one], index): Revival => {
      return { ...one, how: "goes_on", answers: answers[index + 1] ?? [] };
    });
    return [{ ...first, answers: answers[0] ?? [], revivals }];
  });

export const ringHistory: fc.Arbitrary<History> = historiesOf(turn, [planAndAnswer, dying]);

/** The same on an agent with a second model, and without copies: what `refused` meets goes on with the other one. */
export const fallbackHistory: fc.Arbitrary<History> = fc
  .tuple(ringHistory, fc.constantFrom(...MODELS))
  .map(([one, fallback]) => ({ ...one, fallback, turns: one.turns.map(withoutCopies) }));

/** What deletes a session in mid-turn goes on with a copy of it. */
function withoutCopies(turn: Turn): Turn {
  const answers = turn.answers.map(undeleted);
  const revivals = turn.revivals.map((one): Revival => {
    return { ...one, how: one.how === "deleted" ? "stopped" : one.how, answers: one.answers.map(undeleted) };
  });
  const pauses = turn.pauses && { ...turn.pauses, answers: turn.pauses.answers.map(undeleted) };
  return { ...turn, sessions: [], answers, revivals, pauses };
}

function undeleted(planned: Planned): Planned {
  const calls = planned.calls.map((one): PlannedCall => {
    if (one.kind !== "transfer" || one.events === undefined) return one;
    return { ...one, events: one.events.filter(({ what }) => what !== "deleted") };
  });
  return { ...planned, calls, copied: null };
}
