import type { SentMessage } from "../context/align-history.ts";
import type { Agent } from "../define/types.ts";
import type { Provider } from "../providers/contract.ts";
import type { BlobRow, Once } from "../session/contract.ts";
import type { Part } from "../values/entry.ts";
import type { Owner } from "../values/owner.ts";
import type { CallSettings, EpochSettings } from "../values/settings.ts";
import type { TurnEvent } from "../values/turn-event.ts";
import type { Budget } from "./budget.ts";

/** What `holdfast()` was given, checked. Holds no state of any session. */
export interface Runtime {
  readonly agents: readonly Agent[];
  /** Provider by the name before the slash of a model's name, or undefined. */
  provider(name: string): Provider | undefined;
}

/** One user message for one session, as every surface hands it over. */
export interface TurnRequest {
  readonly agent: Agent;
  readonly owner: Owner;
  readonly conversation: { readonly id: string; readonly minted: boolean };
  readonly user: { readonly content: readonly Part[]; readonly blobs: readonly BlobRow[] };
  /** Goes on with a turn that paused or died; there is no new message then. */
  readonly goOn?: true;
  /** The client's messages, its new user message last; null where the surface only appends. */
  readonly sent: readonly SentMessage[] | null;
  /** The messages before the last user message, with their parts, for a session that does not exist yet. */
  readonly seed: readonly { readonly role: "user" | "assistant"; readonly content: readonly Part[] }[];
  readonly clientSystem: string | null;
  readonly settings: { readonly call: Partial<CallSettings>; readonly epoch: Partial<EpochSettings> };
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal | null;
  /** What a client that goes away means on this surface. `parent`: `signal` says what ended the turn above. */
  readonly onDisconnect: "cancel" | "continue" | "parent";
  /** Set for the turn of a sub-session. */
  readonly sub?: SubRequest;
  readonly requestId: string;
  /** What tells a repeat of the request from another one; absent where it can't be sent twice. */
  readonly once?: Once;
  /** The caller's W3C trace context, to go on with. */
  readonly traceparent?: string | null;
  /** The host that the caller reached this server under: tools may not call it. */
  readonly host?: string | null;
  /** The turn is a task: its caller's message, as JSON text in the surface's own form. */
  readonly task?: string;
}

/** What the turn of a sub-session has from the one above. */
export interface SubRequest {
  /** Name of the parent's session. */
  readonly parent: string;
  /** Model calls that it may make, and tokens that it may take where they are limited. */
  readonly steps: number;
  readonly tokens?: number;
  /** Where these are counted; null in an isolate that the parent's turn is not in. */
  readonly budget: Budget | null;
}

/** The turn of a sub-session. Its events end with it, or when it goes on elsewhere; `over` resolves then. */
export interface SubTurn {
  readonly events: AsyncIterable<TurnEvent>;
  readonly over: Promise<void>;
}

/** A turn that runs. Reading the events is optional: it goes on whether or not anybody listens. */
export interface RunningTurn {
  readonly id: string;
  readonly events: AsyncIterable<TurnEvent>;
}
