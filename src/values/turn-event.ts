import type { Status, Stop } from "./entry.ts";
import type { Failure } from "./errors.ts";
import type { Pause } from "./pause.ts";
import type { Usage } from "./usage.ts";

/** Why a request does not extend the one before it (design §3.5). `unexpected` is a fault of ours. */
export type Cause =
  | "compaction"
  | "mode"
  | "late_inline"
  | "fork_reset"
  | "rewind"
  | "model"
  | "settings"
  | "images"
  | "revoked"
  | "renderer"
  | "unexpected";

/** How a request stands to the one before it in its chain. */
export type Verdict =
  | { readonly prefix: "extends" }
  | { readonly prefix: "first" }
  | { readonly prefix: "break"; readonly cause: Cause };

/** A verdict in words, the same wherever one is shown: `extends`, `first`, `break; cause=mode`. */
export function verdictText(verdict: Verdict): string {
  return verdict.prefix === "break" ? `break; cause=${verdict.cause}` : verdict.prefix;
}

/** What happens in a turn, in order. Every surface is a view of this. */
export type TurnEventBody =
  | { readonly type: "started"; readonly turn: string; readonly conversation: string; readonly agent: string }
  /** A request to the model goes out. */
  | { readonly type: "request"; readonly step: number; readonly verdict: Verdict; readonly model: string }
  /** The model has begun to answer. */
  | { readonly type: "answering"; readonly step: number }
  | { readonly type: "text"; readonly step: number; readonly text: string }
  | { readonly type: "thinking"; readonly step: number; readonly text: string }
  /** `host`: made by the runtime, not by the model. `input` is JSON text. */
  | {
      readonly type: "call";
      readonly step: number;
      readonly id: string;
      readonly name: string;
      readonly input: string;
      readonly host: boolean;
    }
  /** What was told of this step and those after it is void: the step runs again. Step 0: all that was told of the turn. */
  | { readonly type: "withdrawn"; readonly step: number }
  | { readonly type: "progress"; readonly id: string; readonly text: string }
  /** `text` is the text parts of the result, joined. */
  | {
      readonly type: "result";
      readonly id: string;
      readonly name: string;
      readonly status: Status;
      readonly text: string;
    }
  /** The turn will end with this call unanswered: it waits for its owner. */
  | { readonly type: "pause"; readonly pause: Pause }
  | { readonly type: "done"; readonly stop: Stop; readonly usage: Usage; readonly detail?: string }
  | { readonly type: "failed"; readonly failure: Failure; readonly usage: Usage };

/** `n` counts from 1 within a turn. The last event is `done` or `failed`, exactly once. */
export type TurnEvent = TurnEventBody & { readonly n: number };

/** Whether an event is its turn's last. */
export function isEnd({ type }: TurnEvent): boolean {
  return type === "done" || type === "failed";
}
