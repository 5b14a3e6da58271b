import { fragments } from "../common/fragments.ts";
import type { Part } from "./answer.ts";
import type { Callable } from "./availability.ts";
import { seal } from "./encrypted.ts";
import type { Model } from "./models.ts";

const TEXT_SIZES = [3, 2, 7, 1, 12, 5];
const JSON_SIZES = [4, 3, 9, 1, 6, 14];

/** A record of a stream, without its number. */
export interface WireEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** One item of an answer: as it is at last, and the events that build it at its place in the output. */
export interface SpelledItem {
  readonly whole: Readonly<Record<string, unknown>> & { readonly type: string; readonly id: string };
  events(outputIndex: number): WireEvent[];
}

/** What an item needs from its surroundings. */
export interface SpellContext {
  readonly model: Model;
  /** What can be called; what a server's search finds comes to it. */
  readonly callable: Map<string, Callable>;
  /** What a server's search can find. */
  readonly deferred: ReadonlyMap<string, Callable>;
  /** The client's own search can be called. */
  readonly search: boolean;
  /** The request asked for encrypted reasoning, or for a summary of it. */
  readonly encrypted: boolean;
  readonly summaries: boolean;
  /** A new id with this prefix. */
  mint(prefix: string): string;
}

/** The items that a part of an answer is: one, none for what steers the answer, two for a server's search. */
export function spellPart(part: Part, context: SpellContext, more: { last: boolean; cut: boolean }): SpelledItem[] {
  const status = more.cut ? "incomplete" : "completed";
  switch (part.kind) {
    case "text":
      return [spellMessage(part.text, "output_text", status, context, more.last)];
    case "refusal":
      return [spellMessage(part.text, "refusal", status, context, more.last)];
    case "thinking":
      return [spellReasoning(part.text, context)];
    case "call":
      if (part.name === "tool_search" && context.search) return [spellClientSearch(part.json, part.id, context)];
      return [spellCall(part, status, context)];
    case "search":
      return spellServerSearch(part, context);
    case "compaction":
      return [spellCompaction(part.text, context)];
    case "stop":
    case "filtered":
    case "failed":
    case "error":
    case "destroy":
    case "park":
    case "http":
      return [];
  }
}

function spellMessage(
  text: string,
  kind: "output_text" | "refusal",
  status: string,
  { model, mint }: SpellContext,
  last: boolean,
): SpelledItem {
  const id = mint("msg_");
  const phase = model.phases ? { phase: last ? "final_answer" : "commentary" } : {};
  const part = (said: string) =>
    kind === "refusal" ? { type: kind, refusal: said } : { type: kind, text: said, annotations: [], logprobs: [] };
  const shell = (content: readonly object[], state: string) => {
    return { id, type: "message", status: state, content, role: "assistant", ...phase } as const;
  };
  const whole = shell([part(text)], status);
  return {
    whole,
    events(output_index) {
      const at = { item_id: id, output_index, content_index: 0 };
      const logprobs = kind === "refusal" ? {} : { logprobs: [] };
      return [
        { type: "response.output_item.added", output_index, item: shell([], "in_progress") },
        { type: "response.content_part.added", ...at, part: part("") },
        ...fragments(text, TEXT_SIZES).map((delta) => ({ type: `response.${kind}.delta`, ...at, delta, ...logprobs })),
        { type: `response.${kind}.done`, ...at, [kind === "refusal" ? "refusal" : "text"]: text, ...logprobs },
        { type: "response.content_part.done", ...at, part: part(text) },
        { type: "response.output_item.done", output_index, item: whole },
      ];
    },
  };
}

function spellReasoning(text: string, { encrypted, summaries, model, mint }: SpellContext): SpelledItem {
  const id = mint("rs_");
  const part = { type: "summary_text", text };
  const blob = encrypted ? { encrypted_content: seal(text, model.id) } : {};
  const whole = { id, type: "reasoning", ...blob, summary: summaries ? [part] : [] } as const;
  return {
    whole,
    events(output_index) {
      const at = { item_id: id, output_index, summary_index: 0 };
      return [
        { type: "response.output_item.added", output_index, item: { id, type: "reasoning", summary: [] } },
        ...(summaries
          ? [
              { type: "response.reasoning_summary_part.added", ...at, part: { type: "summary_text", text: "" } },
              ...fragments(text, TEXT_SIZES).map((delta) => {
                return { type: "response.reasoning_summary_text.delta", ...at, delta };
              }),
              { type: "response.reasoning_summary_text.done", ...at, text },
              { type: "response.reasoning_summary_part.done", ...at, part },
            ]
          : []),
        { type: "response.output_item.done", output_index, item: whole },
      ];
    },
  };
}

function spellCompaction(text: string, { model, mint }: SpellContext): SpelledItem {
  const id = mint("cmp_");
  const whole = { id, type: "compaction", encrypted_content: seal(text, model.id) } as const;
  return {
    whole,
    events: (output_index) => [
      { type: "response.output_item.added", output_index, item: { ...whole, encrypted_content: "" } },
      { type: "response.compaction.compacting", item_id: id, output_index },
      { type: "response.output_item.done", output_index, item: whole },
    ],
  };
}

function spellCall(part: Extract<Part, { kind: "call" }>, status: string, context: SpellContext): SpelledItem {
  const { name, json } = part;
  const id = context.mint("fc_");
  const callId = part.id ?? context.mint("call_");
  const found = context.callable.get(name);
  if (found === undefined && !part.unseen) {
    const visible = [...(context.search ? ["tool_search"] : []), ...context.callable.keys()].join(", ");
    throw new Error(`The script calls '${name}', which this request does not make visible. Visible: ${visible}`);
  }
  const namespace = found?.namespace ? { namespace: found.namespace } : {};
  const shell = (given: string, state: string) => {
    return { id, type: "function_call", status: state, arguments: given, call_id: callId, name, ...namespace } as const;
  };
  const whole = shell(json, status);
  return {
    whole,
    events(output_index) {
      const at = { item_id: id, output_index };
      return [
        { type: "response.output_item.added", output_index, item: shell("", "in_progress") },
        ...fragments(json, JSON_SIZES).map((delta) => {
          return { type: "response.function_call_arguments.delta", ...at, delta };
        }),
        { type: "response.function_call_arguments.done", ...at, arguments: json, name },
        { type: "response.output_item.done", output_index, item: whole },
      ];
    },
  };
}

/** An item that comes whole: once as it begins, once as it is. */
function atOnce(whole: SpelledItem["whole"], begin: object): SpelledItem {
  return {
    whole,
    events: (output_index) => [
      { type: "response.output_item.added", output_index, item: { ...whole, status: "in_progress", ...begin } },
      { type: "response.output_item.done", output_index, item: whole },
    ],
  };
}

function spellClientSearch(json: string, id: string | undefined, { mint }: SpellContext): SpelledItem {
  const given: unknown = JSON.parse(json);
  const whole = {
    id: mint("tsc_"),
    type: "tool_search_call",
    execution: "client",
    call_id: id ?? mint("call_"),
    status: "completed",
    arguments: given,
  } as const;
  return atOnce(whole, { arguments: {} });
}

function spellServerSearch(part: Extract<Part, { kind: "search" }>, context: SpellContext): SpelledItem[] {
  const { callable, deferred, mint } = context;
  const tools = part.found.map((name) => {
    const found = deferred.get(name);
    if (found === undefined) throw new Error(`The script finds '${name}', which this request does not defer.`);
    callable.set(name, found);
    return found.tool;
  });
  const shell = { execution: "server", call_id: null, status: "completed" } as const;
  return [
    atOnce(
      { id: mint("tsc_"), type: "tool_search_call", ...shell, arguments: { paths: part.paths } },
      { arguments: {} },
    ),
    atOnce({ id: mint("tso_"), type: "tool_search_output", ...shell, tools }, { tools: [] }),
  ];
}
