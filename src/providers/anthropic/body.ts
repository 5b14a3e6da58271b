import type { CallSettings } from "../../values/settings.ts";
import type { Item, ModelRequest, Prefix } from "../contract.ts";
import { withBlobs } from "../with-blobs.ts";
import { modelFacts } from "./models.ts";

/**
 * The request's body, written by us byte for byte (the SDK only carries it): epoch settings, this call's settings,
 * question about the cache, inline tools, deferred ones, system, messages.
 *
 * Cache markers, four at most (a read only finds what an earlier request wrote, at most 20 blocks back): the
 * last inline tool, the last system block, the anchor (where the last answered request of this chain ended) and the end.
 */
export function writeBody(request: ModelRequest): { body: string; end: number | null; compared: boolean } {
  const { prefix, items } = request;
  const end = items.findLastIndex((item) => item.markable);
  const marked = new Set([anchorOf(request) ?? end, end]);
  const tools = [
    ...markLast(
      prefix.tools.map((tool) => tool.bytes),
      prefix,
    ),
    ...request.deferred.map((tool) => tool.bytes),
  ];
  const system = markLast(prefix.system, prefix);
  const fields = [prefix.settings, ...callFields(request.call, prefix), '"stream":true'];
  const previous = previousOf(request);
  // Null asks nothing, but the API keeps a fingerprint only of requests that have the field.
  if (modelFacts(request.model).diagnostics) fields.push(diagnosticsField(previous));
  if (tools.length > 0) fields.push(`"tools":[${tools.join(",")}]`);
  if (system.length > 0) fields.push(`"system":[${system.join(",")}]`);
  fields.push(`"messages":[${messages(items, marked, prefix).join(",")}]`);
  const body = withBlobs(`{${fields.join(",")}}`, request.blobs);
  return { body, end: end < 0 ? null : end, compared: previous !== null };
}

/** The answer to compare with. The API refuses an id that is not one of its own (E-A06). */
function previousOf({ model, previous }: ModelRequest): string | null {
  return modelFacts(model).diagnostics && previous?.startsWith("msg_") ? previous : null;
}

function diagnosticsField(previous: string | null): string {
  return `"diagnostics":{"previous_message_id":${JSON.stringify(previous)}}`;
}

/**
 * The anchor: where the chain's last answered request ended. A model that drops earlier thinking when a user message
 * comes no longer has what that request wrote: what it still has ends before the last turn's first thinking.
 */
function anchorOf({ model, anchor, items }: ModelRequest): number | null {
  if (!modelFacts(model).dropsThinking) return anchor;
  const through = anchor ?? items.length - 1;
  const message = items.findLastIndex((item, index) => index <= through && item.message);
  const thought = items.findIndex((item, index) => index > message && !item.markable);
  if (thought <= 0 || thought > through) return anchor;
  // An epoch that begins in mid-turn has no anchor yet: it writes where its next turn will read.
  const dropped = anchor === null || items.slice(anchor + 1).some((item) => item.message);
  return dropped ? thought - 1 : anchor;
}

/**
 * The fields of this call, as the epoch's frozen settings allow them: thinking needs room beside the answer, and takes
 * no sampling settings.
 */
function callFields(call: CallSettings, { settings }: Prefix): string[] {
  const budget = Number(/"budget_tokens":(\d+)/.exec(settings)?.[1] ?? 0);
  const fields = [`"max_tokens":${call.maxOutputTokens + budget}`];
  if (!settings.includes('"thinking":')) {
    if (call.temperature !== undefined) fields.push(`"temperature":${call.temperature}`);
    if (call.topP !== undefined) fields.push(`"top_p":${call.topP}`);
  }
  const stops = (call.stop ?? []).filter((text) => text.trim() !== "");
  if (stops.length > 0) fields.push(`"stop_sequences":${JSON.stringify(stops)}`);
  return fields;
}

function messages(items: readonly Item[], marked: ReadonlySet<number>, prefix: Prefix): string[] {
  const texts: string[] = [];
  let role: Item["role"] | null = null;
  let blocks: string[] = [];
  const close = () => {
    if (role !== null) texts.push(`{"role":"${role}","content":[${blocks.join(",")}]}`);
  };
  items.forEach((item, index) => {
    if (item.role !== role) {
      close();
      role = item.role;
      blocks = [];
    }
    blocks.push(marked.has(index) ? mark(item.bytes, prefix) : item.bytes);
  });
  close();
  return texts;
}

function markLast(texts: readonly string[], prefix: Prefix): string[] {
  return texts.map((text, index) => (index === texts.length - 1 ? mark(text, prefix) : text));
}

function mark(block: string, prefix: Prefix): string {
  const ttl = prefix.ttl === "1h" ? ',"ttl":"1h"' : "";
  return `${block.slice(0, -1)},"cache_control":{"type":"ephemeral"${ttl}}}`;
}
