import { companionId } from "../../src/providers/load-points.ts";
import { openai } from "../../src/providers/openai/provider.ts";
import { readStream } from "../../src/providers/openai/stream.ts";
import { functionsOf, itemsOf, textOf, toolsOf } from "../emulators/openai/content.ts";
import { unseal } from "../emulators/openai/encrypted.ts";
import {
  type AnyRequest,
  bodyLayout,
  compact,
  findModel,
  LocalOpenAI,
  type Part,
  type PromptUsage,
} from "../emulators/openai/index.ts";
import { withTypes } from "../emulators/openai/schema/request.ts";
import { meeting, streamed, type Terms, type Wire } from "./wire.ts";
import type { WireView } from "./wire-rules.ts";

/** No tool's result can be marked, so what was written at one is found again from so near only. */
const EARLIER_ENDINGS = 20;

/** OpenAI's Responses API. */
export const openaiWire: Wire = {
  provider: openai,
  view: (body) => viewOf(parse(body)),
  layout: bodyLayout,
  problems: (body) => foreignReasoning(parse(body)),
  local: (now) =>
    meeting(new LocalOpenAI(now), ({ usage, request, answer }) => {
      const answered = (parts: readonly Part[]) => streamed(answer(parts), readStream);
      return {
        read: usage.input_tokens_details.cached_tokens,
        ...cacheTerms(usage, request.body.model),
        visible: request.visible,
        // Models that do not reason give no such item.
        answer: (parts) =>
          answered(parts.filter(({ kind }) => kind !== "thinking" || findModel(request.body.model)?.reasoning)),
        ...(request.items.at(-1)?.type === "compaction_trigger" ? { compacted: () => answered([compact()]) } : {}),
      };
    }),
};

/** What the cache holds of a request once it is answered: where only boundaries are written, nothing behind the last one. */
export function cacheTerms(
  { input_tokens, input_tokens_details: details }: PromptUsage,
  model: string,
): Pick<Terms, "cached" | "reach"> {
  if (bySteps(model)) return { cached: input_tokens };
  return { cached: details.cached_tokens + details.cache_write_tokens, reach: EARLIER_ENDINGS };
}

function bySteps(model: string): boolean {
  return findModel(model)?.cache.kind === "steps";
}

function parse(body: string): AnyRequest {
  return withTypes(JSON.parse(body)) as AnyRequest;
}

function viewOf(body: AnyRequest): WireView {
  const calls = new Map<string, string>();
  const failed = new Set<string>();
  const loaded: string[] = [];
  const said: string[] = [];
  for (const item of itemsOf(body)) {
    switch (item.type) {
      case "function_call":
        calls.set(item.call_id, item.name);
        break;
      case "tool_search_call":
        calls.set(item.call_id ?? "", "tool_search");
        break;
      case "function_call_output": {
        const text = textOf(item.output);
        if (text.startsWith("Error:")) failed.add(item.call_id);
        said.push(text);
        break;
      }
      case "tool_search_output":
      case "additional_tools":
        loaded.push(...functionsOf(item.tools).map(({ tool }) => tool.name));
        break;
      default:
    }
  }
  const inline = functionsOf(toolsOf(body)).map(({ tool }) => ({ name: tool.name, deferred: false }));
  const search = toolsOf(body).some(({ type }) => type === "tool_search");
  return {
    declared: [...inline, ...(search ? [{ name: "tool_search", deferred: false }] : []), ...new Set(loaded)].map(
      (one) => (typeof one === "string" ? { name: one, deferred: true } : one),
    ),
    calls,
    failed,
    loads: loaded,
    said,
    companionOf: companionId,
  };
}

/** Reasoning or a compaction that another model made: no rule of the API's forbids it, and design §3 does. */
function foreignReasoning(body: AnyRequest): string[] {
  return itemsOf(body).flatMap((item, index) => {
    if ((item.type !== "reasoning" && item.type !== "compaction") || !item.encrypted_content) return [];
    const made = unseal(item.encrypted_content)?.model;
    return made === findModel(body.model)?.id ? [] : [`input[${index}] is ${item.type} that ${made} made`];
  });
}
