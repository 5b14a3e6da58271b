import type { CallBlock } from "../../values/entry.ts";
import { SEARCH_TOOL } from "../../values/tool.ts";
import { objectInput } from "../load-points.ts";
import { wireId } from "../wire-id.ts";
import type { Form } from "./form.ts";

/** Whether a tool joined the conversation before the call that is rendered. */
export type Loaded = (name: string) => boolean;

/** The id of a call on this wire, as JSON text: at most 64 characters. */
export function callId(id: string): string {
  return JSON.stringify(wireId(id, /^.{1,64}$/s));
}

/** A call as we write it, where the model's own item can't be sent: its result is found by its id. */
export function callItem(form: Form, { id, name, input }: Pick<CallBlock, "id" | "name" | "input">): string {
  if (name === SEARCH_TOOL && form.search) return searchCall(id, objectInput(input));
  const fields = [
    `"type":"function_call","call_id":${callId(id)}`,
    `"name":${JSON.stringify(name)},"arguments":${JSON.stringify(input === "" ? "{}" : input)}`,
    // Without it the API looks among the inline tools, and refuses what it does not find there (rule O2).
    ...(form.inline.has(name) ? [] : [`"namespace":${JSON.stringify(name)}`]),
  ];
  return `{${fields.join(",")}}`;
}

/** A search that the client executes. `input` is the JSON text of an object. */
export function searchCall(id: string, input: string): string {
  const fields = `"type":"tool_search_call","execution":"client","call_id":${callId(id)}`;
  return `{${fields},"status":"completed","arguments":${input}}`;
}

/**
 * The item as the model sent it, with what we know nothing of in it; null where it can't be sent as it is: where it has
 * no namespace and is of a tool that is neither inline nor `loaded` before it (a name that the model made up), and in
 * another epoch than its own where that has other inline tools, or another form of search.
 */
export function ownItem(
  form: Form,
  raw: string | undefined,
  { sameEpoch, loaded }: { readonly sameEpoch: boolean; readonly loaded: Loaded },
): string | null {
  if (raw === undefined) return null;
  const item: unknown = JSON.parse(raw);
  if (typeof item !== "object" || item === null) return null;
  const { type, name, namespace } = { type: null, name: null, namespace: null, ...item };
  if (type === "tool_search_call") return sameEpoch || form.search ? raw : null;
  if (typeof name !== "string") return null;
  if (sameEpoch) return typeof namespace === "string" || form.inline.has(name) || loaded(name) ? raw : null;
  if (name === SEARCH_TOOL && form.search) return null;
  return form.inline.has(name) === (typeof namespace === "string") ? null : raw;
}
