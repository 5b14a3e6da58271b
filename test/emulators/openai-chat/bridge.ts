import { call, type SharedPart } from "../common/answer.ts";

/** The one function through which Holdfast's bridge calls what is not offered as a function of its own. */
const BRIDGE = "call_tool";

/** What a model says that knows the bridge: calls of tools that are only described go through it. */
export function throughBridge(parts: readonly SharedPart[], visible: readonly string[]): SharedPart[] {
  if (!visible.includes(BRIDGE)) return [...parts];
  return parts.map((part) => {
    if (part.kind !== "call" || part.unseen || visible.includes(part.name)) return part;
    return call(BRIDGE, `{"name":${JSON.stringify(part.name)},"arguments":${part.json}}`, part.id);
  });
}
