import { loadedLine } from "../../catalog/search.ts";
import { summaryText } from "../../context/compaction.ts";
import type { Block, HostSearchEntry, Numbered, Part, ToolResult } from "../../values/entry.ts";
import { SEARCH_TOOL } from "../../values/tool.ts";
import type { Item, RenderInput } from "../contract.ts";
import { loadedAt, searchInput } from "../load-points.ts";

/** Entries as the demo's blocks, in order: plain JSON, a block for each thing said, called or answered. */
export function renderItems(input: RenderInput): Item[] {
  return input.entries.flatMap((numbered) => entryItems(input, numbered));
}

function entryItems(input: RenderInput, { seq, entry }: Numbered): Item[] {
  switch (entry.kind) {
    case "user":
      return [item(seq, "user", { type: "message", content: entry.content.map(partBlock) })];
    case "assistant":
      return entry.blocks.flatMap(assistantBlock).map((block) => item(seq, "assistant", block));
    case "results":
      return entry.results.map((result) => resultItem(input, seq, result));
    case "host_search":
      return hostSearchItems(input, seq, entry);
    case "system_update":
      return [item(seq, "system", { type: "text", text: entry.text })];
    case "compaction":
      return [item(seq, "user", { type: "text", text: summaryText(entry.summary) })];
    case "rewind":
    case "pause":
    case "pause_answer":
    case "mode_change":
      return [];
  }
}

/** What another model thought is not for this one to read. */
function assistantBlock(block: Block): object[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "call":
      return [{ type: "call", id: block.id, name: block.name, input: block.input }];
    case "thinking":
    case "opaque":
      return [];
  }
}

function resultItem(input: RenderInput, seq: number, { call, name, status, content }: ToolResult): Item {
  const loads = loadedAt(input, call);
  return item(seq, "user", { type: "result", call, name, status, content: content.map(partBlock), loads }, loads);
}

/** A pair of its own wherever it stands: this wire needs no result to follow its message's calls at once. */
function hostSearchItems(input: RenderInput, seq: number, { call, names }: HostSearchEntry): Item[] {
  const loads = loadedAt(input, call);
  const content = [{ type: "text", text: loadedLine(names) }];
  const result = { type: "result", call, name: SEARCH_TOOL, status: "ok", host: true, content, loads };
  return [
    item(seq, "assistant", { type: "call", id: call, name: SEARCH_TOOL, input: searchInput(names) }),
    item(seq, "user", result, loads),
  ];
}

/** The scripted model sees that there is an image or a document, not what is in it. */
function partBlock(part: Part): object {
  return part.type === "text" ? { type: "text", text: part.text } : { type: part.type };
}

function item(seq: number, role: Item["role"], block: object, loads: readonly string[] = []): Item {
  return { seq, role, bytes: JSON.stringify(block), markable: true, ...(loads.length > 0 ? { loads } : {}) };
}
