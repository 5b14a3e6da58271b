import type { FailedCode, Part } from "./answer.ts";
import type { Callable } from "./availability.ts";
import { functionsOf, toolsOf } from "./content.ts";
import type { AcceptedRequest } from "./examine.ts";
import { type SpelledItem, spellPart, type WireEvent } from "./spell-part.ts";

/** How an answer ended. */
export type Ending =
  | { readonly status: "completed" }
  | { readonly status: "incomplete"; readonly reason: "max_output_tokens" | "content_filter" }
  | { readonly status: "failed"; readonly code: FailedCode; readonly message: string };

/** An answer as the API spells it: whole, and in events. */
export interface Compiled {
  readonly output: readonly SpelledItem["whole"][];
  /** The events between `response.in_progress` and the last one, without their numbers. */
  readonly events: readonly WireEvent[];
  readonly ending: Ending;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** Tokens after which the server sampled again, once for each of its searches. */
  readonly passes: readonly number[];
}

/**
 * Spells out an answer. Throws if it calls or finds a tool that it cannot, or compacts where that was not asked for, or
 * says anything else where it was: then the test's script is wrong.
 */
export function compile(parts: readonly Part[], request: AcceptedRequest, mint: (prefix: string) => string): Compiled {
  const { body, model } = request;
  const ending = endingOf(parts);
  const context = {
    model,
    callable: new Map(request.functions),
    deferred: withheld(request),
    search: request.visible.includes("tool_search"),
    encrypted: body.include?.includes("reasoning.encrypted_content") === true,
    summaries: Boolean(body.reasoning?.summary),
    mint,
  };
  const content = parts.filter(({ kind }) => CONTENT.has(kind));
  checkCompaction(content, request);
  const items: SpelledItem[] = [];
  const passes: number[] = [];
  let reasoningTokens = 0;
  for (const [index, part] of content.entries()) {
    const last = index === content.length - 1;
    const cut = last && ending.status === "incomplete";
    const calls = content.slice(index).some(({ kind }) => kind === "call" || kind === "search");
    items.push(...spellPart(part, context, { last: !calls, cut }));
    if (part.kind === "thinking") reasoningTokens += Math.ceil(part.text.length / 4);
    if (part.kind === "search") passes.push(tokensOf(items));
  }
  return {
    output: items.map(({ whole }) => whole),
    events: items.flatMap((item, index) => item.events(index)),
    ending,
    outputTokens: Math.max(1, tokensOf(items)),
    reasoningTokens,
    passes,
  };
}

const CONTENT: ReadonlySet<Part["kind"]> = new Set(["text", "refusal", "thinking", "call", "search", "compaction"]);

/** E-O17: a trigger is answered by one compaction and by nothing else. Thresholds are not simulated. */
function checkCompaction(content: readonly Part[], { items }: AcceptedRequest): void {
  const asked = items.at(-1)?.type === "compaction_trigger";
  const compactions = content.filter(({ kind }) => kind === "compaction").length;
  if (!asked && compactions > 0) throw new Error("The script compacts, and this request does not ask for it.");
  if (asked && content.some(({ kind }) => kind !== "compaction")) {
    throw new Error("The script answers a compaction_trigger with something else than a compaction.");
  }
  if (compactions > 1) throw new Error("The script compacts twice in one answer.");
}

function endingOf(parts: readonly Part[]): Ending {
  for (const part of parts) {
    if (part.kind === "stop") return { status: "incomplete", reason: "max_output_tokens" };
    if (part.kind === "filtered") return { status: "incomplete", reason: "content_filter" };
    if (part.kind === "failed") return { status: "failed", code: part.code, message: part.message };
  }
  return { status: "completed" };
}

/** The deferred functions that a server's search can find; their calls carry a namespace. */
function withheld({ body, model }: AcceptedRequest): Map<string, Callable> {
  const tools = toolsOf(body);
  const hosted = tools.some((tool) => tool.type === "tool_search" && tool.execution !== "client");
  if (!model.toolSearch || !hosted) return new Map();
  const deferred = functionsOf(tools).filter(({ tool }) => tool.defer_loading === true);
  return new Map(
    deferred.map(({ tool, namespace }) => {
      return [tool.name, { name: tool.name, namespace: namespace ?? tool.name, tool, loaded: true }];
    }),
  );
}

function tokensOf(items: readonly SpelledItem[]): number {
  return Math.ceil(items.reduce((sum, { whole }) => sum + JSON.stringify(whole).length, 0) / 4);
}
