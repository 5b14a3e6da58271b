import { loadedLine } from "../../catalog/search.ts";
import { summaryText } from "../../context/compaction.ts";
import type { AssistantEntry, CallBlock, Numbered, Part, ResultsEntry } from "../../values/entry.ts";
import { SEARCH_TOOL } from "../../values/tool.ts";
import type { Item, RenderInput } from "../contract.ts";
import { companionId, loadedAt, objectInput, saysOnlyWhatItLoaded, searchInput } from "../load-points.ts";
import { wireId } from "../wire-id.ts";
import { bridged } from "./bridge.ts";
import { type Form, formOf, wireName } from "./form.ts";
import { outputText, userContent } from "./parts.ts";

/**
 * Entries as the messages of Chat Completions, in order, one item a message (design §3.4). Given the same input it gives
 * the same bytes; a change of what it gives is a new wire version.
 */
export function renderItems(input: RenderInput): Item[] {
  const form = formOf(input.tools);
  return input.entries.flatMap((numbered) => entryItems(input, form, numbered));
}

function entryItems(input: RenderInput, form: Form, { seq, entry }: Numbered): Item[] {
  switch (entry.kind) {
    case "user": {
      const bytes = `{"role":"user","content":${userContent(entry.content)}}`;
      return [{ ...withMedia(item(seq, "user", bytes), entry.content), message: true }];
    }
    case "system_update":
      return [item(seq, "system", systemMessage(entry.text))];
    case "assistant":
      return assistantItems(input, form, seq, entry);
    case "results":
      return resultItems(input, form, seq, entry);
    case "host_search":
      return searchPair(seq, entry.call, entry.names, loadedAt(input, entry.call));
    case "compaction":
      return [
        {
          ...item(seq, "user", `{"role":"user","content":${JSON.stringify(summaryText(entry.summary))}}`),
          message: true,
        },
      ];
    case "rewind":
    case "pause":
    case "pause_answer":
    case "mode_change":
      return [];
  }
}

export function systemMessage(text: string): string {
  return `{"role":"system","content":${JSON.stringify(text)}}`;
}

/** An answer as one message. What other models thought is not for this one to read, nor was it asked for. */
function assistantItems(input: RenderInput, form: Form, seq: number, { blocks, model }: AssistantEntry): Item[] {
  const own = model === input.chain.split("#")[0];
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const calls = blocks.flatMap((block) => (block.type === "call" ? [toolCall(form, block, own)] : []));
  if (text.trim() === "" && calls.length === 0) return [];
  return [item(seq, "assistant", assistantMessage(text, calls))];
}

function assistantMessage(text: string, calls: readonly string[]): string {
  const content = text.trim() === "" ? "null" : JSON.stringify(text);
  return `{"role":"assistant","content":${content}${calls.length > 0 ? `,"tool_calls":[${calls.join(",")}]` : ""}}`;
}

/** A call: as the model made it, with all that the endpoint said of it, where this epoch still calls the tool so. */
function toolCall(form: Form, { id, name, input, raw }: CallBlock, own: boolean): string {
  const wire = wireName(form, name);
  const head = `{"id":${callId(id)},"type":"function",`;
  if (own && raw?.startsWith(rawHead(wire))) return head + raw.slice(1);
  const text = objectInput(input);
  const sent = JSON.stringify(wire === name ? text : bridged(name, text));
  return `${head}${rawHead(wire).slice(1)}${sent}}}`;
}

/** How a call's `raw` begins ({@link rawCall}). */
function rawHead(name: string): string {
  return `{"function":{"name":${JSON.stringify(name)},"arguments":`;
}

/** A call as the endpoint made it, without its id: what it is sent back as. `more` is what we know nothing of. */
export function rawCall(name: string, input: string, more: Readonly<Record<string, unknown>>): string {
  const rest = JSON.stringify(more).slice(1, -1);
  return `${rawHead(name)}${JSON.stringify(input)}}${rest === "" ? "" : `,${rest}`}}`;
}

/** The id of a call on this wire, as JSON text: OpenAI takes at most 40 characters here. */
function callId(id: string): string {
  return JSON.stringify(wireId(id, /^.{1,40}$/s));
}

/** All results of a batch, then what joins the conversation at one of its calls. */
function resultItems(input: RenderInput, form: Form, seq: number, { results }: ResultsEntry): Item[] {
  const outputs: Item[] = [];
  const pairs: Item[] = [];
  for (const result of results) {
    const names = form.bridge ? loadedAt(input, result.call) : [];
    const own = names.length > 0 && saysOnlyWhatItLoaded(input, result);
    const text = own
      ? loadedText(result.details?.addedToolNames ?? names)
      : outputText(result.content, result.status !== "ok");
    outputs.push({ ...toolMessage(seq, result.call, text), ...(own ? { loads: names } : {}) });
    if (names.length > 0 && !own) pairs.push(...searchPair(seq, companionId(result.call), names, names));
  }
  return [...outputs, ...pairs];
}

/** A search that was not the model's, with its result: a host search, or what brings definitions to a load point. */
function searchPair(seq: number, id: string, names: readonly string[], loads: readonly string[]): Item[] {
  const call = `{"id":${JSON.stringify(id)},"type":"function",${rawCall(SEARCH_TOOL, searchInput(names), {}).slice(1)}`;
  const found = toolMessage(seq, id, loads.length > 0 ? loadedText(names) : loadedLine(names));
  return [item(seq, "assistant", assistantMessage("", [call])), loads.length > 0 ? { ...found, loads } : found];
}

/** What stands before the definitions, which `body.ts` puts behind it. */
function loadedText(names: readonly string[]): string {
  return `${loadedLine(names)} Each by call_tool, with arguments that fit its schema:`;
}

function toolMessage(seq: number, call: string, text: string): Item {
  const bytes = `{"role":"tool","tool_call_id":${callId(call)},"content":${JSON.stringify(text)}}`;
  return item(seq, "user", bytes);
}

function withMedia(one: Item, content: readonly Part[]): Item {
  const media = content.some((part) => part.type !== "text");
  const image = content.some((part) => part.type === "image");
  return { ...one, ...(media ? { media } : {}), ...(image ? { image } : {}) };
}

function item(seq: number, role: Item["role"], bytes: string): Item {
  return { seq, role, bytes, markable: true };
}
