import fc from "fast-check";

/**
 * A history: what a session goes through, drawn at random. It says what clients, deploys, tools, the model and the
 * machines do; what the runtime makes of it is what the rings check.
 */
export interface History {
  readonly model: Model;
  /** Asked where the agent's model fails before it answers. */
  readonly fallback: Model | null;
  readonly thinking: boolean;
  /** Tokens that the models take; null is what they really take, far more than a history ever needs. */
  readonly window: number | null;
  /** The agent's instructions are a text, not a function. */
  readonly textual: boolean;
  /** The agent leaves its automatic compactions to the provider. */
  readonly byProvider: boolean;
  readonly turns: readonly Turn[];
  /** Plain turns follow until so many requests were made. */
  readonly least: number;
}

export interface Turn {
  /** Somebody asks for a compaction before the turn. */
  readonly compact: boolean;
  /** What comes of the summaries that are asked for from then on, one after the other; when they run out they succeed. */
  readonly summaries: readonly SummaryFault[];
  /** Changes that a deploy or an MCP server makes before the turn. */
  readonly deploy: readonly Deploy[];
  /** `again`: the message before once more. `regenerate`: the history without its last answer. `edit`: the last message reworded. */
  readonly client: "message" | "again" | "regenerate" | "edit";
  /** How many messages back the client edits or regenerates from. */
  readonly back: number;
  /** Which system text the client sends along, if any. */
  readonly system: number | null;
  /** What the model answers, request by request; when they run out it says a last word. */
  readonly answers: readonly Planned[];
  /** What becomes of sessions before the turn. */
  readonly sessions: readonly Sessions[];
  /** What is done about pauses before it; null leaves them to its message. */
  readonly pauses: Answering | null;
  /** The mode that the session is put into before it. */
  readonly mode: Mode | null;
}

/** How plans are decided, and what the model answers once the turn goes on. */
export interface Answering {
  readonly approve: boolean;
  readonly answers: readonly Planned[];
}

/** The modes of the agent. `careful` makes a lazy tool core. */
export const RING_MODES = ["agent", "plan", "careful"] as const;
export type Mode = (typeof RING_MODES)[number];

/** `to`: which of the sessions the history goes on with. */
export type Sessions =
  | (Copying & { readonly to: number })
  | { readonly kind: "switch"; readonly to: number }
  /** The session is deleted; the history goes on with another, if there is one. */
  | { readonly kind: "delete"; readonly to: number };

/** A clone, or a fork before one of the last user messages. */
export type Copying =
  | { readonly kind: "clone" }
  /** `back`: how many messages it lacks, at least one. */
  | { readonly kind: "fork"; readonly back: number };

export type Deploy =
  | { readonly kind: "add"; readonly tool: number }
  | { readonly kind: "remove"; readonly tool: number }
  | { readonly kind: "edit" }
  | { readonly kind: "shuffle"; readonly by: number }
  | { readonly kind: "renderer" }
  | { readonly kind: "instructions" }
  /** The operator withdraws what was frozen. */
  | { readonly kind: "revise" }
  /** The agent moves to this model, or back to its first one. */
  | { readonly kind: "model"; readonly to: Model | null };

export interface Planned {
  readonly text: boolean;
  readonly calls: readonly PlannedCall[];
  readonly fault: Fault | null;
  /** The session is copied while the request is out. */
  readonly copied: Copying | null;
  /** The provider compacts the context instead of answering, if it was told that it may. */
  readonly compacts?: boolean;
}

export type PlannedCall =
  | { readonly kind: "search"; readonly tool: number; readonly more: number | null }
  /** A search that also names a core tool, so that it says more than what it loaded. */
  | { readonly kind: "mixed_search"; readonly tool: number }
  | { readonly kind: "empty_search" }
  | { readonly kind: "use"; readonly tool: number }
  | { readonly kind: "note" }
  | { readonly kind: "fail" }
  | { readonly kind: "unknown" }
  /** Adds a late tool while the turn runs. */
  | { readonly kind: "install"; readonly tool: number }
  | { readonly kind: "odd_input" }
  /** A tool whether or not the request shows it. */
  | { readonly kind: "forbidden"; readonly tool: number }
  | { readonly kind: "enter_plan" }
  | { readonly kind: "submit_plan" }
  | { readonly kind: "ask" }
  /** Hands a task to a sub-session. */
  | { readonly kind: "transfer"; readonly tool: number };

/**
 * `refused`: the provider answers 500. `rejected`: it answers 400. `cut`: the stream breaks off. The others end the isolate: before any header came,
 * in mid-stream, while a tool runs, or between the append of the results and the next request.
 */
export type Fault =
  | "refused"
  | "rejected"
  | "too_long"
  | "cut"
  | "dead_before_headers"
  | "dead_in_stream"
  | "dead_in_tool"
  | "dead_before_send";

/**
 * The models that an agent moves between, each as its API's name and its own. Of Anthropic's, bound ones and others, and
 * such as drop their thinking; of OpenAI's one for each form in which tools join, for each kind of cache, and one to
 * which none can join; an endpoint of Chat Completions with the bridge and one without.
 */
export const MODELS = [
  "anthropic/claude-sonnet-5",
  "anthropic/claude-opus-4-8",
  "anthropic/claude-opus-5-5",
  "anthropic/claude-fable-5-1",
  "anthropic/claude-sonnet-4-5",
  "anthropic/claude-sonnet-4-6",
  "openai/gpt-5.4",
  "openai/gpt-5.5",
  "openai/gpt-5.6-sol",
  "openai/gpt-5.2",
  "openai/gpt-4.1",
  "chat/acme-1",
  "bridge/acme-2",
] as const;

export type Model = (typeof MODELS)[number];

/** How many lazy tools the agent has, and how many can come late. */
export const LAZY = 8;
export const LATE = 6;

const lazyTool = fc.nat(LAZY - 1);
const lateTool = fc.nat(LATE - 1);

const plannedCall: fc.Arbitrary<PlannedCall> = fc.oneof(
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
    arbitrary: fc.constantFrom<Fault>(
      "refused",
      "rejected",
      "too_long",
      "cut",
      "dead_before_headers",
      "dead_in_stream",
      "dead_in_tool",
      "dead_before_send",
    ),
  },
);

const copying: fc.Arbitrary<Copying> = fc.oneof(
  fc.record({ kind: fc.constant("clone" as const) }),
  fc.record({ kind: fc.constant("fork" as const), back: fc.integer({ min: 1, max: 4 }) }),
);

const sessions: fc.Arbitrary<Sessions> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ copied: copying, to: fc.nat(9) }).map(({ copied, to }) => ({ ...copied, to })) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("switch" as const), to: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), to: fc.nat(9) }) },
);

const planned: fc.Arbitrary<Planned> = fc.record({
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
});

const deploy: fc.Arbitrary<Deploy> = fc.oneof(
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

/** `calls`: the model calls a tool instead of answering. The others are as in {@link Fault}. */
export type SummaryFault = "none" | "calls" | "refused" | "cut" | "dead_in_stream";

const summaryFault: fc.Arbitrary<SummaryFault> = fc.oneof(
  { weight: 3, arbitrary: fc.constant("none" as const) },
  { weight: 2, arbitrary: fc.constantFrom<SummaryFault>("calls", "refused", "cut", "dead_in_stream") },
);

const turn: fc.Arbitrary<Turn> = fc.record({
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
});

/** A turn in which nothing happens but a message. */
export const PLAIN: Turn = {
  ...{ compact: false, summaries: [], deploy: [], client: "message", back: 0, system: null, answers: [], sessions: [] },
  pauses: null,
  mode: null,
};

const faultAtOnce: fc.Arbitrary<Fault> = fc.constantFrom("refused", "dead_before_headers");

/** A first request that is lost, and a release with another renderer before it is made again. */
const lostThenReleased: fc.Arbitrary<Turn[]> = fc.tuple(faultAtOnce, turn).map(([fault, after]) => [
  { ...PLAIN, answers: [{ text: true, calls: [], fault, copied: null }] },
  { ...after, deploy: [{ kind: "renderer" }], client: "again" },
]);

const turns = (least: number, most: number): fc.Arbitrary<Turn[]> => {
  const one = fc.oneof(
    { weight: 20, arbitrary: turn.map((single) => [single]) },
    { weight: 1, arbitrary: lostThenReleased },
  );
  return fc.array(one, { minLength: least, maxLength: most, size: "max" }).map((parts) => parts.flat());
};

/** No history makes more requests. */
export const MOST = 60;

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

/** Five to sixty requests a history, half of them fifteen or more. */
const drawn: fc.Arbitrary<Omit<History, "fallback">> = fc.oneof(
  fc.record({
    ...world,
    turns: turns(2, 5),
    least: fc.constant(5),
  }),
  fc.record({
    ...world,
    turns: fc.oneof({ weight: 5, arbitrary: turns(3, 6) }, { weight: 1, arbitrary: turns(8, 24) }),
    least: fc.constant(15),
  }),
);

export const history: fc.Arbitrary<History> = drawn.map((one) => ({ ...one, fallback: null }));

/** The same on an agent with a second model, and without copies: what `refused` meets goes on with the other one. */
export const fallbackHistory: fc.Arbitrary<History> = fc
  .tuple(drawn, fc.constantFrom(...MODELS))
  .map(([one, fallback]) => ({ ...one, fallback, turns: one.turns.map(withoutCopies) }));

function withoutCopies(turn: Turn): Turn {
  return { ...turn, sessions: [], answers: turn.answers.map((planned) => ({ ...planned, copied: null })) };
}
