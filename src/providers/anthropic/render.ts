import { loadedLine } from "../../catalog/search.ts";
import { summaryText } from "../../context/compaction.ts";
import type {
  AssistantEntry,
  Block,
  CompactionEntry,
  Entry,
  HostSearchEntry,
  Numbered,
  Part,
  ResultsEntry,
  ToolResult,
} from "../../values/entry.ts";
import type { Item, RenderInput } from "../contract.ts";
import { companionId, loadedAt, objectInput, saysOnlyWhatItLoaded } from "../load-points.ts";
import { callId, companionCall, referencesResult, searchCall } from "./companion.ts";
import { modelFacts } from "./models.ts";
import { partBlock, textBlock } from "./parts.ts";

/**
 * Entries as the blocks of Anthropic's `messages`, in order (design §3.4). Given the same input it gives the same bytes;
 * a change of what it gives is a new wire version.
 */
export function renderItems(input: RenderInput): Item[] {
  return input.entries.flatMap((_, index) => entryItems(input, index));
}

function entryItems(input: RenderInput, index: number): Item[] {
  const numbered = input.entries[index];
  if (numbered === undefined) return [];
  const { seq, entry } = numbered;
  switch (entry.kind) {
    case "user":
      return userItems(seq, entry.content);
    case "system_update":
      return [said(seq, textBlock(`<system-update>\n${entry.text}\n</system-update>`))];
    case "assistant":
      return assistantItems(input, seq, entry, following(input.entries, index));
    case "results":
      return resultItems(input, seq, entry);
    case "host_search":
      return hostSearchItems(input, seq, entry);
    case "compaction":
      return [compactionItem(input, seq, entry)];
    case "rewind":
    case "pause":
    case "pause_answer":
    case "mode_change":
      return [];
  }
}

/** The block that the API itself made of what came before, for a model that knows of such; else the summary as text. */
function compactionItem({ chain }: RenderInput, seq: number, { summary, block: own }: CompactionEntry): Item {
  const [, model = ""] = /^[^/]*\/([^#]*)/.exec(chain) ?? [];
  if (own?.provider === "anthropic" && modelFacts(model).compacts) return block(seq, "assistant", own.raw);
  return said(seq, textBlock(summaryText(summary)));
}

/** The results of an assistant entry and the host searches attached to it: they add calls to its message. */
function following(entries: readonly Numbered[], index: number): Numbered[] {
  const seq = entries[index]?.seq;
  const found: Numbered[] = [];
  for (const next of entries.slice(index + 1)) {
    if (!belongsTo(next.entry, seq)) break;
    found.push(next);
  }
  return found;
}

function belongsTo(entry: Entry, seq: number | undefined): boolean {
  if (entry.kind === "results") return entry.of === seq;
  return entry.kind === "host_search" && entry.place.at === "attach" && entry.place.seq === seq;
}

function assistantItems(input: RenderInput, seq: number, entry: AssistantEntry, after: readonly Numbered[]): Item[] {
  const sameEpoch = entry.chain === input.chain && entry.epoch === input.epoch;
  const runningTurn = entry.turn === input.runningTurn && entry.model === input.chain.split("#")[0];
  const items = entry.blocks.flatMap((own) => assistantBlock(seq, own, sameEpoch, sameEpoch || runningTurn));
  for (const { seq: at, entry: next } of after) {
    if (next.kind === "results") {
      for (const result of next.results) {
        const names = companionNames(input, result);
        if (names.length > 0) items.push(block(seq, "assistant", companionCall(result.call, names)));
      }
    } else if (next.kind === "host_search") {
      items.push(block(at, "assistant", searchCall(next.call, next.names)));
    }
  }
  return items;
}

function assistantBlock(seq: number, own: Block, sameEpoch: boolean, thinking: boolean): Item[] {
  switch (own.type) {
    case "text":
      return own.text.trim() === "" ? [] : [block(seq, "assistant", textBlock(own.text))];
    case "thinking":
      return thinking ? [{ ...block(seq, "assistant", own.raw), markable: false }] : [];
    case "opaque":
      return sameEpoch ? [{ ...block(seq, "assistant", own.raw), markable: false }] : [];
    case "call": {
      const id = callId(own.id);
      const name = JSON.stringify(own.name);
      return [
        block(seq, "assistant", `{"type":"tool_use","id":${id},"name":${name},"input":${objectInput(own.input)}}`),
      ];
    }
  }
}

function resultItems(input: RenderInput, seq: number, entry: ResultsEntry): Item[] {
  const items: Item[] = [];
  const companions: Item[] = [];
  for (const result of entry.results) {
    const names = loadedAt(input, result.call);
    if (names.length > 0 && saysOnlyWhatItLoaded(input, result)) {
      items.push(referencesItem(seq, result.call, names));
      continue;
    }
    items.push(withMedia(block(seq, "user", resultBlock(result)), result.status === "ok" ? result.content : []));
    if (names.length > 0) companions.push(referencesItem(seq, companionId(result.call), names));
  }
  return [...items, ...companions];
}

/** Names a companion beside this result has to carry; none if the result carries them itself or is no load point. */
function companionNames(input: RenderInput, result: ToolResult): string[] {
  const names = loadedAt(input, result.call);
  return names.length > 0 && saysOnlyWhatItLoaded(input, result) ? [] : names;
}

function resultBlock(result: ToolResult): string {
  const failed = result.status !== "ok";
  const content = failed ? result.content.map(asText) : result.content;
  const blocks = content.flatMap((part) => partBlock(part) ?? []);
  if (blocks.length === 0) blocks.push(textBlock("(no output)"));
  const id = callId(result.call);
  return `{"type":"tool_result","tool_use_id":${id},"content":[${blocks.join(",")}]${failed ? ',"is_error":true' : ""}}`;
}

/** A failed result may hold text only (rule A7). */
function asText(part: Part): Part {
  return part.type === "text" ? part : { type: "text", text: `[${part.type} left out of a failed result]` };
}

function hostSearchItems(input: RenderInput, seq: number, entry: HostSearchEntry): Item[] {
  const names = loadedAt(input, entry.call);
  const said = `{"type":"tool_result","tool_use_id":${callId(entry.call)},"content":[${textBlock(loadedLine(entry.names))}]}`;
  const result = names.length > 0 ? referencesItem(seq, entry.call, names) : block(seq, "user", said);
  if (entry.place.at === "attach") return [result];
  return [block(seq, "assistant", searchCall(entry.call, entry.names)), result];
}

function referencesItem(seq: number, call: string, names: readonly string[]): Item {
  return { ...block(seq, "user", referencesResult(call, names)), loads: names };
}

function userItems(seq: number, content: readonly Part[]): Item[] {
  const items = content.flatMap((part) => {
    const bytes = partBlock(part);
    return bytes === null ? [] : [withMedia(said(seq, bytes), [part])];
  });
  return items.length > 0 ? items : [said(seq, textBlock("(empty message)"))];
}

function withMedia(item: Item, content: readonly Part[]): Item {
  const media = content.some((part) => part.type !== "text");
  const image = content.some((part) => part.type === "image");
  return { ...item, ...(media ? { media } : {}), ...(image ? { image } : {}) };
}

function said(seq: number, bytes: string): Item {
  return { ...block(seq, "user", bytes), message: true };
}

function block(seq: number, role: Item["role"], bytes: string): Item {
  return { seq, role, bytes, markable: true };
}
