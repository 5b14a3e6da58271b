/** What a user's definitions become once they were checked. The functions that make them are in the files beside. */

import type { ToolIndex } from "../catalog/tool-index.ts";
import type { Owner } from "../values/owner.ts";
import type { Ask } from "../values/pause.ts";
import type { CallSettings, EpochSettings } from "../values/settings.ts";
import type { Risk, ToolSpec } from "../values/tool.ts";

/** What a tool gets beside its input. `env` holds the worker's bindings. */
export interface ToolContext {
  readonly env: Cloudflare.Env;
  readonly owner: Owner;
  readonly session: { readonly id: string; readonly agent: string; readonly mode: string };
  readonly callId: string;
  /** Aborts on time-out, cancel and loss of the lease. */
  readonly signal: AbortSignal;
  /**
   * The way out to the internet: `fetch`, but it refuses internal addresses and this server itself, drops credentials
   * when a redirect leaves the origin, and has limits of size, time and count (docs/egress.md).
   */
  fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response>;
  /**
   * A question to the owner. `return ask("Which city?")`: the turn pauses, and the answer is this call's result; the tool
   * is not run again. Throws where the question is empty.
   */
  ask(question: string | Question): Ask;
  /** Shows the caller a line while the tool runs. Never stored. */
  progress(text: string): void;
}

/** `options` are shown as what can be answered; any other answer is taken too. */
export interface Question {
  readonly question: string;
  readonly options?: readonly string[];
}

/** Whether an input fits a tool, and the value its `execute` gets (defaults filled in). */
export type Validated =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** A checked tool, with the types of its input forgotten. */
export interface Tool {
  readonly spec: ToolSpec;
  readonly risk: Risk;
  /** May be run again with the same call id when it is not known whether it ran. */
  readonly idempotent: boolean;
  readonly timeoutMs: number;
  readonly lazy: boolean;
  validate(input: unknown): Promise<Validated>;
  /** Returns whatever the author returned; `turn/tool-output.ts` makes a result of it. Throws what the author threw. */
  run(input: unknown, context: ToolContext): Promise<unknown>;
}

export interface InstructionContext {
  readonly env: Cloudflare.Env;
  readonly owner: Owner;
  readonly session: { readonly id: string; readonly agent: string; readonly mode: string };
}

/** A filter by name: `*` stands for any run of characters. */
export interface Mode {
  readonly allow: readonly string[];
  /** Lazy tools that need no search in this mode. */
  readonly core?: readonly string[];
}

export interface Limits {
  /** Model calls a turn. */
  readonly steps: number;
  /** Identical batches of calls in a row. */
  readonly repeats: number;
  /**
   * Requests to others that a turn may make in one isolate: model calls, those of tools by their `fetch`, and calls of the
   * session's object, of which there is one a second. The platform allows 10,000 on a paid plan and 50 on a free one.
   */
  readonly subrequests: number;
  /** Seconds that a turn takes, all told; `false` sets no limit. */
  readonly seconds: number | false;
  /** Tokens of a turn that were not read from a prompt cache: input, written to the cache, output. `false`: no limit. */
  readonly tokens: number | false;
}

export interface Compaction {
  /** Whether a context that fills the window is compacted by itself. */
  readonly automatic: boolean;
  /** Share of the model's window that a call has to use before the next one waits for a compaction. */
  readonly threshold: number;
  /** Tokens of the newest messages and steps that stay; null is a fifth of the window, at most 20 000. */
  readonly keep: number | null;
  /** Writes the summaries; null is the agent's own model. */
  readonly model: Agent["model"] | null;
  /** `provider`: where the provider can compact by itself, an automatic compaction is its own. */
  readonly by: "runtime" | "provider";
}

export interface Agent {
  readonly name: string;
  readonly description: string;
  readonly model: string | ((context: { env: Cloudflare.Env }) => string);
  /** Models that are asked in turn when one before them fails before it begins to answer. */
  readonly fallback: readonly Agent["model"][];
  readonly settings: EpochSettings & Pick<CallSettings, "maxOutputTokens">;
  readonly instructions: string | ((context: InstructionContext) => string | Promise<string>);
  /** Core tools in order, then the runtime's own but `tool_search`, then lazy ones. */
  readonly tools: readonly Tool[];
  /** Modes beside `agent`, which is the mode of all tools; with `plan`, the mode of that name among them. */
  readonly modes: Readonly<Record<string, Mode>>;
  /** Agents that it may hand tasks to. */
  readonly subagents: readonly Agent[];
  readonly limits: Limits;
  readonly busy: "wait" | "interrupt" | "reject";
  readonly hostSearch: boolean;
  readonly clientSystem: "accept" | "ignore";
  readonly revision: number;
  readonly compaction: Compaction;
  /** Sessions that nobody used for so many days are deleted; absent keeps them. */
  readonly retentionDays?: number;
  readonly allowDestructive: boolean;
  /** Search index over the lazy tools, kept from turn to turn; `defineAgent` makes it. */
  readonly index?: ToolIndex;
}
