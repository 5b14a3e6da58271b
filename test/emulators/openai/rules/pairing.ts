import { type Failure, invalid } from "../failure.ts";
import type { Item } from "../schema/items.ts";
import type { Rule } from "./rule.ts";

type CallKind = "function" | "custom" | "search";

/** A call that the client has to answer, by its `call_id`. */
interface Open {
  readonly kind: CallKind;
  answered: boolean;
}

/**
 * E-O10, E-O11, E-O12: every call of the client's has its output, at any distance behind it, and every output its call.
 * What the server searched for may stand alone, and a function's output answers a search too.
 */
export const callsAndOutputs: Rule = ({ items, earlier, endpoint }) => {
  const calls = new Map<string, Open>();
  for (const item of [...(earlier ?? []), ...items]) {
    const failure = follow(item, calls, earlier === null);
    if (failure !== null) return failure;
  }
  // A compaction may take up what is not finished yet.
  if (endpoint === "compact") return null;
  for (const [id, { kind, answered }] of calls) {
    if (answered) continue;
    if (kind === "search") return invalid("E-O11", `No tool output found for tool search call ${id}.`, "input");
    const what = kind === "custom" ? "custom tool call" : "function call";
    return invalid("E-O10", `No tool output found for ${what} ${id}.`, "input");
  }
  return null;
};

/** `believed`: what stands before was made elsewhere, so that an output's call may be there. */
function follow(item: Item, calls: Map<string, Open>, believed: boolean): Failure | null {
  switch (item.type) {
    case "function_call":
      return open(item.call_id, "function", calls);
    case "custom_tool_call":
      return open(item.call_id, "custom", calls);
    case "tool_search_call":
      if (item.execution !== "client") return null;
      return open(item.call_id ?? "", "search", calls);
    case "function_call_output":
      if (close(item.call_id, ["function", "search"], calls) || believed) return null;
      return invalid("E-O10", `No tool call found for function call output with call_id ${item.call_id}.`, "input");
    case "custom_tool_call_output":
      if (close(item.call_id, ["custom"], calls) || believed) return null;
      return invalid("E-O10", `No tool call found for custom tool call output with call_id ${item.call_id}.`, "input");
    case "tool_search_output":
      if (item.execution !== "client" || close(item.call_id ?? "", ["search"], calls) || believed) return null;
      return invalid("E-O11", `No tool call found for tool search output with call_id ${item.call_id}.`, "input");
    default:
      return null;
  }
}

/** The vendor's text for a `call_id` that stands twice is not known. */
function open(id: string, kind: CallKind, calls: Map<string, Open>): Failure | null {
  if (calls.has(id)) return invalid("E-O10", `Duplicate tool call with call_id ${id}.`, "input");
  calls.set(id, { kind, answered: false });
  return null;
}

/** A second output for the same call counts as one without a call. */
function close(id: string, kinds: readonly CallKind[], calls: Map<string, Open>): boolean {
  const call = calls.get(id);
  if (call === undefined || call.answered || !kinds.includes(call.kind)) return false;
  call.answered = true;
  return true;
}
