import { placedBlocks } from "../content.ts";
import { type Failure, invalid } from "../failure.ts";
import type { AnyRequest } from "../schema/request.ts";
import type { Rule } from "./rule.ts";

const COMPACTION = ["compact-2026-01-12", "compact-2026-09-04"];
const CONTEXT = ["context-management-2025-06-27", "compact-2026-01-12"];
const CLEAR_AT = ["mid-conversation-system-clear-at-2026-08-21"];
const MESSAGE_OUTPUT = ["mid-conversation-output-config-2026-07-01"];
const BINDING = ["thinking-binding-controls-2026-08-01"];
const MCP = ["mcp-client-2025-04-04", "mcp-client-2025-11-20", "mcp-client-2026-09-15"];
const INLINE = ["inline-tools-2026-09-15"];
const CHANGES = ["mid-conversation-tool-changes-2026-07-01", ...INLINE];

/** E-A07: a field that belongs to a beta is unknown without its header. */
export const gatedFields: Rule = ({ body, betas }) => {
  for (const [path, needed] of used(body)) {
    if (!needed.some((beta) => betas.has(beta))) return refuse(path);
  }
  return null;
};

function refuse(path: string): Failure {
  return invalid("E-A07", `${path}: Extra inputs are not permitted`);
}

function* used(body: AnyRequest): Generator<readonly [path: string, betas: readonly string[]]> {
  if (body.context_management) yield ["context_management", CONTEXT];
  for (const [index, edit] of (body.context_management?.edits ?? []).entries()) {
    if (edit.type === "compact_20260112") yield [`context_management.edits.${index}`, ["compact-2026-01-12"]];
  }
  if (body.compaction) yield ["compaction", ["compact-2026-09-04"]];
  if (body.mcp_servers !== undefined) yield ["mcp_servers", MCP];
  if (body.thinking && "block_binding" in body.thinking && body.thinking.block_binding) {
    yield [`thinking.${body.thinking.type}.block_binding`, BINDING];
  }
  for (const [index, message] of body.messages.entries()) {
    if (message.role !== "system") continue;
    if (message.clear_at) yield [`messages.${index}.clear_at`, CLEAR_AT];
    if (message.output_config) yield [`messages.${index}.output_config`, MESSAGE_OUTPUT];
  }
  for (const { block, path } of placedBlocks(body.messages)) {
    if (block.type === "compaction") yield [`${path}.compaction`, COMPACTION];
    if (block.type === "tool_addition" && block.tool.type === "tool_definition") {
      yield [`${path}.tool_addition.tool.tool_definition`, INLINE];
    } else if (block.type === "tool_addition" || block.type === "tool_removal")
      yield [`${path}.${block.type}`, CHANGES];
  }
}
