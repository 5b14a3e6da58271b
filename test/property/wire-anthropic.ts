import { anthropic } from "../../src/providers/anthropic/provider.ts";
import { readStream } from "../../src/providers/anthropic/stream.ts";
import { companionId } from "../../src/providers/load-points.ts";
import { compact, LocalModel, layoutOf, type Part, stop } from "../emulators/anthropic/index.ts";
import { sourceOf } from "../emulators/anthropic/source.ts";
import { meeting, streamed, type Wire } from "./wire.ts";
import type { WireView } from "./wire-rules.ts";

/** As much of a request's body as the rules look at. */
interface Body {
  readonly tools?: readonly object[];
  readonly messages: readonly { readonly role: string; readonly content?: string | readonly Block[] }[];
}

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly tool_use_id?: string;
  readonly is_error?: boolean;
  readonly content?: unknown;
}

/** Anthropic's Messages API. */
export const anthropicWire: Wire = {
  provider: anthropic,
  view: (body) => viewOf(JSON.parse(body)),
  layout(body) {
    const { messages }: Body = JSON.parse(body);
    return layoutOf(
      sourceOf(body),
      messages.map(({ role }) => role),
    );
  },
  problems: () => [],
  local: (now) =>
    meeting(new LocalModel(now), ({ usage, request, answer }) => {
      const answered = (parts: readonly Part[]) => streamed(answer(parts), readStream);
      return {
        read: usage.cache_read_input_tokens,
        cached: usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
        visible: request.visible,
        answer: answered,
        ...(request.body.context_management
          ? { compacted: () => answered([compact("What was said so far."), stop("compaction")]) }
          : {}),
      };
    }),
};

function viewOf({ tools = [], messages }: Body): WireView {
  const calls = new Map<string, string>();
  const failed = new Set<string>();
  const loads: string[] = [];
  const said: string[] = [];
  for (const { content } of messages) {
    if (content === undefined || typeof content === "string") continue;
    for (const block of content) {
      if (block.type === "tool_use") calls.set(block.id ?? "", block.name ?? "");
      if (block.type !== "tool_result") continue;
      if (block.is_error) failed.add(block.tool_use_id ?? "");
      for (const part of partsOf(block.content)) {
        if (part.tool_name === undefined) said.push(part.text ?? "");
        else loads.push(part.tool_name);
      }
    }
  }
  return { declared: tools.flatMap(toolOf), calls, failed, loads, said, companionOf: companionId };
}

function toolOf(tool: object): { name: string; deferred: boolean }[] {
  if (!("name" in tool) || typeof tool.name !== "string") return [];
  return [{ name: tool.name, deferred: "defer_loading" in tool && tool.defer_loading === true }];
}

function partsOf(content: unknown): { readonly text?: string; readonly tool_name?: string }[] {
  return Array.isArray(content) ? content : [];
}
