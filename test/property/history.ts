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
  /** It begins in the background: no isolate runs it but those that take it up. */
  readonly background: boolean;
  /** What takes it up where its isolate died or handed it over, one after the other; when they run out, a death is left to the next message. */
  readonly revivals: readonly Revival[];
}

/** How a turn that its isolate left goes on. */
export interface Revival {
  /** `goes_on`: another isolate comes for it. Else its owner stops it or deletes its session before one does. */
  readonly how: "goes_on" | "stopped" | "deleted";
  readonly deploy: readonly Deploy[];
  /** What the model answers from then on. */
  readonly answers: readonly Planned[];
  /** Who is taken up first: the turn, the sub-sessions that it left, or all at once. */
  readonly order: "parent" | "subs" | "at_once";
  /** The session's object was made anew in between, and remembers only what it stored. */
  readonly forgets: boolean;
  /** The isolate that was asked never came. */
  readonly lost: boolean;
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
  | ({ readonly kind: "transfer"; readonly tool: number } & Partial<Handed>);

/** What is behind a task that is handed over. */
export interface Handed {
  /** The tools of the tasks that its agent hands on, side by side, to a third one. */
  readonly below: readonly number[];
  /** What happens while a request of it, or of the first of those below, is out; one after the other. */
  readonly events: readonly TaskEvent[];
}

/** `at`: at which of its requests, from 0. */
export interface TaskEvent {
  readonly what: (typeof TASK_EVENTS)[number];
  readonly at: number;
  readonly below: boolean;
}

/** `dead`: the isolate dies. `handed`: the client of the turn above left long ago. The others are what its owner does to the session above. */
export const TASK_EVENTS = ["dead", "handed", "stopped", "deleted"] as const;

/**
 * `refused`: the provider answers 500. `rejected`: it answers 400. `cut`: the stream breaks off. The others end the isolate: before any header came,
 * in mid-stream, while a tool runs, or between the append of the results and the next request.
 */
export const FAULTS = [
  "refused",
  "rejected",
  "too_long",
  "cut",
  "dead_before_headers",
  "dead_in_stream",
  "dead_in_tool",
  "dead_before_send",
] as const;

/**
 * What ends an isolate in ring (a) alone. `dead_before_calls`: it dies when its answer is stored. The others hand the turn
 * over, for its client leaves: after the step, or, since 20 s pass, within the answer or while a tool runs.
 */
export const LEAVINGS = ["dead_before_calls", "handed_between", "handed_in_stream", "handed_in_tool"] as const;

export type Fault = (typeof FAULTS)[number] | (typeof LEAVINGS)[number];

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

/** What may become of a summary. `calls`: the model calls a tool instead of answering. The others are as in {@link Fault}. */
export const SUMMARY_FAULTS = ["none", "calls", "refused", "cut", "dead_in_stream"] as const;

/** `dead_after`, in ring (a) alone: the isolate dies once the compaction is stored, before its next request. */
export type SummaryFault = (typeof SUMMARY_FAULTS)[number] | "dead_after";

/** A turn in which nothing happens but a message. */
export const PLAIN: Turn = {
  ...{ compact: false, summaries: [], deploy: [], client: "message", back: 0, system: null, answers: [], sessions: [] },
  pauses: null,
  mode: null,
  background: false,
  revivals: [],
};

/** No history makes more requests. */
export const MOST = 60;
