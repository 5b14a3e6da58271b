import { loadedLine } from "../../catalog/search.ts";
import { summaryText } from "../../context/compaction.ts";
import type {
  AssistantEntry,
  Block,
  CompactionEntry,
  Numbered,
  Part,
  ResultsEntry,
  ToolResult,
} from "../../values/entry.ts";
import { SEARCH_TOOL } from "../../values/tool.ts";
import type { Item, RenderInput } from "../contract.ts";
import { companionId, loadedAt, saysOnlyWhatItLoaded, searchInput } from "../load-points.ts";
import { callId, callItem, type Loaded, ownItem, searchCall } from "./calls.ts";
import { type Form, formOf } from "./form.ts";
import { inputPart } from "./parts.ts";

/**
 * Entries as the items of the Responses API's `input`, in order (design §3.4). Given the same input it gives the same
 * bytes; a change of what it gives is a new wire version. Definitions are not in them: `body.ts` puts them in where an
 * item `loads` them.
 */
export function renderItems(input: RenderInput): Item[] {
  const form = formOf(input);
  const places = placesOf(input);
  return input.entries.flatMap((numbered, index) => {
    const loaded = (name: string) => {
      const call = input.declared.has(name) ? input.deferrals.loadPoints.get(name) : undefined;
      return call !== undefined && (places.get(call) ?? -1) < index;
    };
    return entryItems(input, form, numbered, loaded);
  });
}

/** Where among the entries the results of calls stand. Those of entries that were sent before have no place. */
function placesOf({ entries }: RenderInput): ReadonlyMap<string, number> {
  return new Map(entries.flatMap(({ entry }, index) => callsIn(entry).map((call) => [call, index] as const)));
}

function callsIn(entry: Numbered["entry"]): string[] {
  if (entry.kind === "results") return entry.results.map(({ call }) => call);
  return entry.kind === "host_search" ? [entry.call] : [];
}

function entryItems(input: RenderInput, form: Form, { seq, entry }: Numbered, loaded: Loaded): Item[] {
  switch (entry.kind) {
    case "user":
      return [userItem(seq, entry.content)];
    case "system_update":
      return [item(seq, "system", `{"role":"developer","content":[${inputPart({ type: "text", text: entry.text })}]}`)];
    case "assistant":
      return assistantItems(input, form, seq, entry, loaded);
    case "results":
      return resultItems(input, form, seq, entry);
    case "host_search":
      return hostSearchItems(input, form, seq, entry.call, entry.names);
    case "compaction":
      return [compactionItem(input, seq, entry)];
    case "rewind":
    case "pause":
    case "pause_answer":
    case "mode_change":
      return [];
  }
}

/** The summary as text, or what the API itself made of what came before, for the model that it made it with. */
function compactionItem({ chain }: RenderInput, seq: number, { summary, block }: CompactionEntry): Item {
  const own = block?.provider === "openai" && block.model === chain.split("#")[0];
  return own ? item(seq, "assistant", block.raw) : userItem(seq, [{ type: "text", text: summaryText(summary) }]);
}

function userItem(seq: number, content: readonly Part[]): Item {
  const said = content.filter((part) => part.type !== "text" || part.text !== "");
  const parts = (said.length > 0 ? said : [{ type: "text", text: "(empty message)" } as const]).map(inputPart);
  const bytes = `{"role":"user","content":[${parts.join(",")}]}`;
  return { ...withMedia(item(seq, "user", bytes), content), message: true };
}

/** An item of an answer, and whether it is the model's own, as it came. */
interface Said {
  readonly item: Item;
  readonly own: boolean;
}

function assistantItems(input: RenderInput, form: Form, seq: number, entry: AssistantEntry, loaded: Loaded): Item[] {
  const sameEpoch = entry.chain === input.chain && entry.epoch === input.epoch;
  const sameModel = entry.model === input.chain.split("#")[0];
  const thinking = sameEpoch || (sameModel && entry.turn === input.runningTurn);
  const said = entry.blocks.flatMap((block) => blockItem(form, seq, block, { sameEpoch, sameModel, thinking, loaded }));
  return said.filter((one, index) => !isReasoning(one) || leads(said, index)).map((one) => one.item);
}

/** Reasoning must stand before the very item that followed it when it came (rule O7). */
function leads(said: readonly Said[], index: number): boolean {
  return said.slice(index + 1).find((one) => !isReasoning(one))?.own === true;
}

function isReasoning({ item: { markable } }: Said): boolean {
  return !markable;
}

function blockItem(
  form: Form,
  seq: number,
  block: Block,
  of: { sameEpoch: boolean; sameModel: boolean; thinking: boolean; loaded: Loaded },
): Said[] {
  const { sameEpoch, sameModel, thinking } = of;
  const said = (bytes: string, own: boolean): Said[] => [{ item: item(seq, "assistant", bytes), own }];
  switch (block.type) {
    case "text":
      if (sameModel && block.raw !== undefined) return said(block.raw, true);
      return block.text.trim() === ""
        ? []
        : said(`{"role":"assistant","content":${JSON.stringify(block.text)}}`, false);
    case "thinking":
      return thinking ? [{ item: { ...item(seq, "assistant", block.raw), markable: false }, own: true }] : [];
    case "opaque":
      return sameEpoch ? said(block.raw, true) : [];
    case "call": {
      const own = sameModel ? ownItem(form, block.raw, of) : null;
      return own === null ? said(callItem(form, block), false) : said(own, true);
    }
  }
}

/** All outputs of a batch, then what joins the conversation at one of its calls. */
function resultItems(input: RenderInput, form: Form, seq: number, entry: ResultsEntry): Item[] {
  const outputs: Item[] = [];
  const loads: Item[] = [];
  for (const result of entry.results) {
    const names = loadedAt(input, result.call);
    if (names.length > 0 && form.search && saysOnlyWhatItLoaded(input, result)) {
      outputs.push(searchOutput(seq, result.call, names));
      continue;
    }
    outputs.push(outputItem(seq, result));
    if (names.length > 0) loads.push(...loadItems(form, seq, companionId(result.call), names));
  }
  return [...outputs, ...loads];
}

/** What brings definitions into the conversation where no search of the model's did. */
function loadItems(form: Form, seq: number, id: string, names: readonly string[]): Item[] {
  if (!form.search) {
    return [{ ...item(seq, "system", '{"type":"additional_tools","role":"developer","tools":[]}'), loads: names }];
  }
  return [item(seq, "assistant", searchCall(id, searchInput(names))), searchOutput(seq, id, names)];
}

function searchOutput(seq: number, id: string, names: readonly string[]): Item {
  const fields = `"type":"tool_search_output","execution":"client","call_id":${callId(id)}`;
  return { ...item(seq, "user", `{${fields},"status":"completed","tools":[]}`), loads: names };
}

/** A host search at its place: the load it makes, or where nothing of it is declared, a search like any other. */
function hostSearchItems(input: RenderInput, form: Form, seq: number, call: string, names: readonly string[]): Item[] {
  const loaded = loadedAt(input, call);
  if (loaded.length > 0) return loadItems(form, seq, call, loaded);
  const content = [{ type: "text", text: loadedLine(names) } as const];
  return [
    item(seq, "assistant", callItem(form, { id: call, name: SEARCH_TOOL, input: searchInput(names) })),
    outputItem(seq, { call, name: SEARCH_TOOL, status: "ok", content }),
  ];
}

/** What a tool said. The API has no field for a failure, so the text says so. */
function outputItem(seq: number, { call, status, content }: ToolResult): Item {
  const failed: readonly Part[] = status === "ok" ? [] : [{ type: "text", text: "Error:" }];
  const parts = [...failed, ...content];
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const output =
    texts.length === parts.length
      ? JSON.stringify(texts.join("\n") || "(no output)")
      : `[${parts.map(inputPart).join(",")}]`;
  const bytes = `{"type":"function_call_output","call_id":${callId(call)},"output":${output}}`;
  return withMedia(item(seq, "user", bytes), content);
}

function withMedia(one: Item, content: readonly Part[]): Item {
  const media = content.some((part) => part.type !== "text");
  const image = content.some((part) => part.type === "image");
  return { ...one, ...(media ? { media } : {}), ...(image ? { image } : {}) };
}

function item(seq: number, role: Item["role"], bytes: string): Item {
  return { seq, role, bytes, markable: true };
}
