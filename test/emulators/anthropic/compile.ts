import type { Part, RefusalCategory, StopReason } from "./answer.ts";
import { type SpellContext, type SpelledBlock, spellPart } from "./spell-part.ts";

/** One record of a stream. */
export interface WireEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What an answer needs from its surroundings. */
export interface CompileContext extends SpellContext {
  readonly visible: readonly string[];
  /** The names in `tools`. */
  readonly declared: ReadonlySet<string>;
}

interface StopDetails {
  readonly type: "refusal";
  readonly category: RefusalCategory | null;
  readonly explanation: string | null;
}

/** An answer as the API spells it: whole, and in events. */
export interface Compiled {
  /** The content of an answer that is not streamed. */
  readonly content: readonly Readonly<Record<string, unknown>>[];
  /** The events between `message_start` and `message_delta`. */
  readonly events: readonly WireEvent[];
  readonly stopReason: StopReason;
  readonly stopDetails: StopDetails | null;
  readonly outputTokens: number;
  /** Tokens after which the server sampled again, once for each of its searches. */
  readonly passes: readonly number[];
}

/** Spells out an answer. Throws if it calls or finds a tool that it cannot: then the test's script is wrong. */
export function compile(parts: readonly Part[], context: CompileContext): Compiled {
  const callable = new Set(context.visible);
  const blocks: SpelledBlock[] = [];
  const passes: number[] = [];
  let stopReason: StopReason | null = null;
  let stopDetails: StopDetails | null = null;
  for (const part of parts) {
    if (part.kind === "stop") stopReason = part.reason;
    if (part.kind === "refusal") {
      stopReason = "refusal";
      stopDetails = { type: "refusal", category: part.category, explanation: part.explanation };
    }
    if (part.kind === "call" && !part.unseen) requireVisible(part.name, callable);
    if (part.kind === "search") {
      for (const name of part.found) {
        requireDeclared(name, context.declared);
        callable.add(name);
      }
    }
    blocks.push(...spellPart(part, context));
    if (part.kind === "search") passes.push(tokensOf(blocks));
  }
  const calls = blocks.some((block) => block.whole.type === "tool_use");
  return {
    content: blocks.map((block) => block.whole),
    events: withPing(blocks.flatMap(eventsOf)),
    stopReason: stopReason ?? (calls ? "tool_use" : "end_turn"),
    stopDetails,
    outputTokens: Math.max(1, tokensOf(blocks)),
    passes,
  };
}

function requireVisible(name: string, visible: ReadonlySet<string>): void {
  if (visible.has(name)) return;
  throw new Error(
    `The script calls '${name}', which this request does not make visible. Visible: ${[...visible].join(", ")}`,
  );
}

function requireDeclared(name: string, declared: ReadonlySet<string>): void {
  if (!declared.has(name)) throw new Error(`The script finds '${name}', which is not among the tools of this request.`);
}

function eventsOf(block: SpelledBlock, index: number): WireEvent[] {
  return [
    { type: "content_block_start", index, content_block: block.start },
    ...block.deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

/** One `ping`, where the API mostly sends it: after the first block has begun. */
function withPing(events: readonly WireEvent[]): WireEvent[] {
  return events.length === 0 ? [] : [...events.slice(0, 1), { type: "ping" }, ...events.slice(1)];
}

function tokensOf(blocks: readonly SpelledBlock[]): number {
  return Math.ceil(blocks.reduce((sum, block) => sum + JSON.stringify(block.whole).length, 0) / 4);
}
