import { companionId } from "../../src/providers/load-points.ts";
import { unbridged } from "../../src/providers/openai-chat/bridge.ts";
import { type OpenAICompatibleOptions, openaiCompatible } from "../../src/providers/openai-chat/provider.ts";
import { readStream } from "../../src/providers/openai-chat/stream.ts";
import { throughBridge } from "../emulators/openai-chat/bridge.ts";
import { bodyLayout, type ChatRequest, LocalChat } from "../emulators/openai-chat/index.ts";
import { textOf } from "../emulators/openai-chat/messages.ts";
import { meeting, streamed, type Wire } from "./wire.ts";
import type { WireView } from "./wire-rules.ts";

/** Chat Completions, where late tools go inline. */
export const chatWire: Wire = wire({});

/** Chat Completions with the bridge, where late tools are described in the conversation. */
export const bridgeWire: Wire = wire({ deferral: "bridge" });

function wire(options: Pick<OpenAICompatibleOptions, "deferral">): Wire {
  const named = options.deferral === "bridge" ? unbridged : (call: { name: string; input: string }) => call;
  return {
    provider: openaiCompatible({ ...options, baseURL: ({ env }) => chatUrl(env), apiKey: "key" }),
    view: (body) => viewOf(JSON.parse(body), named),
    layout: bodyLayout,
    problems: () => [],
    local: (now) =>
      meeting(new LocalChat(now), ({ usage, request, answer }, body) => ({
        read: usage.input_tokens_details.cached_tokens,
        cached: usage.input_tokens,
        visible: [...request.visible, ...viewOf(request.body, named).loads],
        answer: (parts) =>
          streamed(answer(throughBridge(parts, request.visible)), (chunks) => readStream(chunks, body, named)),
      })),
  };
}

/** The names of tools that a request describes for the bridge. */
export function describedTools(body: string): readonly string[] {
  return viewOf(JSON.parse(body), unbridged).loads;
}

/** Where the rings' endpoint for Chat Completions is: a binding of their own. */
function chatUrl(env: object): string {
  return "CHAT_BASE_URL" in env ? String(env.CHAT_BASE_URL) : "";
}

function viewOf(body: ChatRequest, named: typeof unbridged): WireView {
  const calls = new Map<string, string>();
  const failed = new Set<string>();
  const loads: string[] = [];
  const said: string[] = [];
  for (const message of body.messages) {
    if (message.role === "assistant") {
      for (const { id, function: made } of message.tool_calls ?? []) {
        calls.set(id, named({ name: made.name, input: made.arguments }).name);
      }
    }
    if (message.role !== "tool") continue;
    const text = textOf(message.content);
    if (text.startsWith("Error:")) failed.add(message.tool_call_id);
    said.push(text);
    for (const [, name] of text.matchAll(/^\{"name":"([^"]+)","description"/gm)) loads.push(name ?? "");
  }
  const inline = (body.tools ?? []).map((tool) => ({ name: tool.function.name, deferred: false }));
  const deferred = [...new Set(loads)].map((name) => ({ name, deferred: true }));
  return { declared: [...inline, ...deferred], calls, failed, loads, said, companionOf: companionId };
}
