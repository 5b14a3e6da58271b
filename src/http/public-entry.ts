import type { Block, Entry, Numbered, Part, ToolResult } from "../values/entry.ts";
import type { Pause, PauseAnswer } from "../values/pause.ts";

/**
 * What an owner may see of an entry. Left out, and never to be added: load points (the call id and the place of a host
 * search), what a provider signed or encrypted (`raw`, opaque blocks), chains and epochs, and the operator's
 * instructions.
 */
export type PublicEntry = PublicEntryBody & {
  readonly seq: number;
  readonly turn: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly origin: Entry["origin"];
};

type PublicEntryBody =
  | { readonly kind: "user"; readonly content: readonly Part[] }
  | {
      readonly kind: "assistant";
      readonly model: string;
      readonly stop: string;
      readonly content: readonly PublicBlock[];
    }
  | { readonly kind: "results"; readonly results: readonly PublicResult[] }
  /** The runtime made these tools available by itself; no model asked for it. */
  | { readonly kind: "host_search"; readonly by: "runtime"; readonly names: readonly string[] }
  | { readonly kind: "rewind"; readonly to: number; readonly why: string }
  | { readonly kind: "system_update" }
  | { readonly kind: "pause"; readonly pauses: readonly Pause[] }
  | { readonly kind: "pause_answer"; readonly pause: string; readonly answer: PauseAnswer }
  | { readonly kind: "mode_change"; readonly mode: string }
  /** From here on the model reads the summary instead of the earlier entries, except for those that were kept. */
  | { readonly kind: "compaction"; readonly summary: string; readonly kept: readonly number[]; readonly why: string };

type PublicBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly input: string };

/** `session`: the sub-session that worked on it, with its own entries where they were read (`embedded.ts`). */
type PublicResult = Pick<ToolResult, "call" | "name" | "status" | "content"> & { readonly session?: PublicSession };

export interface PublicSession {
  readonly agent: string;
  readonly id: string;
  readonly entries?: readonly PublicEntry[];
  /** There are more: it can be read under its own id. */
  readonly next?: number;
}

export function publicEntry({ seq, entry }: Numbered): PublicEntry {
  return { seq, turn: entry.turn, at: entry.at, origin: entry.origin, ...body(entry) };
}

function body(entry: Entry): PublicEntryBody {
  switch (entry.kind) {
    case "user":
      return { kind: "user", content: entry.content };
    case "assistant":
      return { kind: "assistant", model: entry.model, stop: entry.stop, content: entry.blocks.flatMap(block) };
    case "results":
      return {
        kind: "results",
        results: entry.results.map(({ call, name, status, content, session }) => ({
          ...{ call, name, status, content },
          ...(session === undefined ? {} : { session: { agent: session.agent, id: session.conversation } }),
        })),
      };
    case "host_search":
      return { kind: "host_search", by: "runtime", names: entry.names };
    case "rewind":
      return { kind: "rewind", to: entry.to, why: entry.why };
    case "system_update":
      return { kind: "system_update" };
    case "pause":
      return { kind: "pause", pauses: entry.pauses };
    case "pause_answer":
      return { kind: "pause_answer", pause: entry.pause, answer: entry.answer };
    case "mode_change":
      return { kind: "mode_change", mode: entry.mode };
    case "compaction":
      return { kind: "compaction", summary: entry.summary, kept: entry.kept, why: entry.why };
  }
}

function block(block: Block): PublicBlock[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "thinking":
      return [{ type: "thinking", text: block.text }];
    case "call":
      return [{ type: "call", id: block.id, name: block.name, input: block.input }];
    case "opaque":
      return [];
  }
}
