import fc from "fast-check";
import {
  type Copying,
  type Deploy,
  FAULTS,
  type Fault,
  type History,
  LATE,
  LAZY,
  MODELS,
  type Mode,
  PLAIN,
  type Planned,
  type PlannedCall,
  RING_MODES,
  type Sessions,
  SUMMARY_FAULTS,
  type SummaryFault,
  type Turn,
} from "./history.ts";

export const lazyTool = fc.nat(LAZY - 1);
const lateTool = fc.nat(LATE - 1);

export const plannedCall: fc.Arbitrary<PlannedCall> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("search" as const), tool: lazyTool, more: fc.option(lazyTool) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("mixed_search" as const), tool: lazyTool }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("empty_search" as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("use" as const), tool: fc.nat(LAZY + LATE - 1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("note" as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("fail" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("unknown" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("install" as const), tool: lateTool }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("odd_input" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forbidden" as const), tool: fc.nat(LAZY + LATE - 1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("enter_plan" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("submit_plan" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("ask" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("transfer" as const), tool: lazyTool }) },
);

const fault: fc.Arbitrary<Fault | null> = fc.oneof(
  { weight: 30, arbitrary: fc.constant(null) },
  {
    weight: 6,
    arbitrary: fc.constantFrom<Fault>(...FAULTS),
  },
);

export const copying: fc.Arbitrary<Copying> = fc.oneof(
  fc.record({ kind: fc.constant("clone" as const) }),
  fc.record({ kind: fc.constant("fork" as const), back: fc.integer({ min: 1, max: 4 }) }),
);

const sessions: fc.Arbitrary<Sessions> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ copied: copying, to: fc.nat(9) }).map(({ copied, to }) => ({ ...copied, to })) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("switch" as const), to: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), to: fc.nat(9) }) },
);

/** What an answer of the model is drawn from. */
export const plannedShape = {
  text: fc.boolean(),
  calls: fc.oneof(
    { weight: 12, arbitrary: fc.array(plannedCall, { minLength: 1, maxLength: 3 }) },
    { weight: 2, arbitrary: fc.array(fc.constant<PlannedCall>({ kind: "fail" }), { minLength: 1, maxLength: 2 }) },
    { weight: 2, arbitrary: fc.constant([]) },
    // More blocks than a provider looks back over from a cache marker.
    { weight: 1, arbitrary: fc.array(fc.constant<PlannedCall>({ kind: "note" }), { minLength: 11, maxLength: 13 }) },
  ),
  fault,
  copied: fc.oneof({ weight: 30, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: copying }),
  compacts: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
};

const planned: fc.Arbitrary<Planned> = fc.record(plannedShape);

export const deploy: fc.Arbitrary<Deploy> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("add" as const), tool: lateTool }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), tool: fc.nat(LAZY + LATE - 1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("edit" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("shuffle" as const), by: fc.nat(LAZY) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("renderer" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("instructions" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("revise" as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("model" as const), to: fc.option(fc.constantFrom(...MODELS)) }),
  },
);

const summaryFault: fc.Arbitrary<SummaryFault> = fc.oneof(
  { weight: 3, arbitrary: fc.constant("none" as const) },
  { weight: 2, arbitrary: fc.constantFrom<SummaryFault>(...SUMMARY_FAULTS.slice(1)) },
);

/** What a turn is drawn from. */
export const turnShape = {
  compact: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  summaries: fc.array(summaryFault, { maxLength: 2 }),
  deploy: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: fc.array(deploy, { minLength: 1, maxLength: 2 }) },
  ),
  client: fc.oneof(
    { weight: 12, arbitrary: fc.constant("message" as const) },
    { weight: 3, arbitrary: fc.constant("again" as const) },
    { weight: 1, arbitrary: fc.constant("regenerate" as const) },
    { weight: 1, arbitrary: fc.constant("edit" as const) },
  ),
  back: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) }),
  system: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(2) }),
  answers: fc.array(planned, { minLength: 0, maxLength: 4 }),
  sessions: fc.oneof(
    { weight: 5, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(sessions, { minLength: 1, maxLength: 2 }) },
  ),
  pauses: fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    {
      weight: 3,
      arbitrary: fc.record({ approve: fc.boolean(), answers: fc.array(planned, { minLength: 0, maxLength: 2 }) }),
    },
  ),
  mode: fc.oneof(
    { weight: 5, arbitrary: fc.constant(null) },
    { weight: 2, arbitrary: fc.constantFrom<Mode>(...RING_MODES) },
  ),
  background: fc.constant(false),
  revivals: fc.constant([]),
};

const faultAtOnce: fc.Arbitrary<Fault> = fc.constantFrom("refused", "dead_before_headers");

/** A first request that is lost, and a release with another renderer before it is made again. */
const lostThenReleased = (turn: fc.Arbitrary<Turn>): fc.Arbitrary<Turn[]> =>
  fc.tuple(faultAtOnce, turn).map(([fault, after]) => [
    { ...PLAIN, answers: [{ text: true, calls: [], fault, copied: null }] },
    { ...after, deploy: [{ kind: "renderer" }], client: "again" },
  ]);

const turns = (
  turn: fc.Arbitrary<Turn>,
  more: readonly fc.Arbitrary<Turn[]>[],
  least: number,
  most: number,
): fc.Arbitrary<Turn[]> => {
  const one = fc.oneof(
    { weight: 20, arbitrary: turn.map((single) => [single]) },
    { weight: 1, arbitrary: lostThenReleased(turn) },
    ...more.map((arbitrary) => ({ weight: 1, arbitrary })),
  );
  return fc.array(one, { minLength: least, maxLength: most, size: "max" }).map((parts) => parts.flat());
};

const world = {
  model: fc.constantFrom(...MODELS),
  thinking: fc.boolean(),
  textual: fc.boolean(),
  byProvider: fc.boolean(),
  window: fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.integer({ min: 2_500, max: 8_000 }) },
  ),
};

/** Histories of such turns: five to sixty requests each, half of them fifteen or more. `more`: runs of turns that are among them. */
export const historiesOf = (
  turn: fc.Arbitrary<Turn>,
  more: readonly fc.Arbitrary<Turn[]>[] = [],
): fc.Arbitrary<History> =>
  fc
    .oneof(
      fc.record({
        ...world,
        turns: turns(turn, more, 2, 5),
        least: fc.constant(5),
      }),
      fc.record({
        ...world,
        turns: fc.oneof(
          { weight: 5, arbitrary: turns(turn, more, 3, 6) },
          { weight: 1, arbitrary: turns(turn, more, 8, 24) },
        ),
        least: fc.constant(15),
      }),
    )
    .map((one) => ({ ...one, fallback: null }));

export const history: fc.Arbitrary<History> = historiesOf(fc.record(turnShape));
