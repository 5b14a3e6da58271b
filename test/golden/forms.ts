import { anthropic } from "../../src/providers/anthropic/provider.ts";
import { readStream as readAnthropic } from "../../src/providers/anthropic/stream.ts";
import type { ModelEvent, Provider } from "../../src/providers/contract.ts";
import { openai } from "../../src/providers/openai/provider.ts";
import { readStream as readOpenAI } from "../../src/providers/openai/stream.ts";
import { unbridged } from "../../src/providers/openai-chat/bridge.ts";
import { openaiCompatible } from "../../src/providers/openai-chat/provider.ts";
import { readStream as readChat } from "../../src/providers/openai-chat/stream.ts";
import { compile as compileMessage } from "../emulators/anthropic/compile.ts";
import { examine as examineMessages } from "../emulators/anthropic/examine.ts";
import {
  type Part as AnthropicPart,
  bodyLayout as anthropicLayout,
  compact as compactedMessage,
  stop,
} from "../emulators/anthropic/index.ts";
import { messageEvents } from "../emulators/anthropic/message.ts";
import { sign } from "../emulators/anthropic/signatures.ts";
import type { SharedPart } from "../emulators/common/answer.ts";
import type { Layout } from "../emulators/common/layout.ts";
import { compile as compileResponse } from "../emulators/openai/compile.ts";
import { examine as examineResponses } from "../emulators/openai/examine.ts";
import {
  compact as compactedResponse,
  type Part as OpenAIPart,
  bodyLayout as openaiLayout,
} from "../emulators/openai/index.ts";
import { responseEvents } from "../emulators/openai/response.ts";
import { throughBridge } from "../emulators/openai-chat/bridge.ts";
import { chunks, compile as compileChat } from "../emulators/openai-chat/compile.ts";
import { examine as examineChat } from "../emulators/openai-chat/examine.ts";
import { bodyLayout as chatLayout } from "../emulators/openai-chat/index.ts";

/** A form that requests take on a wire, with golden files of its own. */
export interface GoldenForm {
  /** `provider/model`. */
  readonly model: string;
  readonly provider: Provider;
  layout(body: string): Layout;
  /** Late tools go inline, so that a request need not begin as the one before it. */
  readonly inlineOnly?: true;
  /** The events of an answer, with ids that a person can read. Throws when the API would refuse request `n`. */
  answer(body: string, parts: readonly SharedPart[], n: number): AsyncIterable<ModelEvent>;
  /** The same, of an answer in which the provider compacts what came before. */
  compacted?(body: string, n: number): AsyncIterable<ModelEvent>;
}

/** Every form, by the folder of its files. */
export const FORMS: Readonly<Record<string, GoldenForm>> = {
  anthropic: messages("anthropic/claude-sonnet-5"),
  openai: responses("openai/gpt-5.4"),
  "openai-additional-tools": responses("openai/gpt-5.2"),
  "openai-breakpoints": responses("openai/gpt-5.6-sol"),
  "openai-chat": chat(),
  "openai-chat-bridge": chat("bridge"),
};

function messages(model: string): GoldenForm {
  const answer = (bodyText: string, parts: readonly AnthropicPart[], n: number) => {
    const headers = { "x-api-key": "key", "anthropic-version": "2023-06-01", "anthropic-beta": "compact-2026-01-12" };
    const request = accepted(examineMessages({ endpoint: "messages", headers, bodyText }, { signatures: "own" }), n);
    const { visible, binding, body } = request;
    const context = {
      visible,
      declared: new Set<string>(),
      mint: minting(n),
      sign: (text: string) => sign(text, binding),
    };
    const cache_creation = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 };
    const usage = { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, cache_creation };
    const envelope = { id: `msg_${n}`, model: body.model, usage, droppedThinking: [] };
    return readAnthropic(arriving(messageEvents(envelope, compileMessage(parts, context))));
  };
  return {
    model,
    provider: anthropic,
    layout: anthropicLayout,
    answer,
    compacted: (body, n) => answer(body, [compactedMessage("It rains."), stop("compaction")], n),
  };
}

function responses(model: string): GoldenForm {
  const settings: Parameters<typeof examineResponses>[1] = {
    foreign: "own",
    namespaces: "model",
    preamble: "none",
    stored: () => undefined,
    storedSource: () => [],
    storedItem: () => undefined,
  };
  const answer = (bodyText: string, parts: readonly OpenAIPart[], n: number) => {
    const headers = { authorization: "Bearer key" };
    const request = accepted(examineResponses({ endpoint: "responses", headers, bodyText }, settings), n);
    const envelope = { id: `resp_${n}`, createdAt: 0, request, usage: NO_USAGE };
    return readOpenAI(arriving(responseEvents(envelope, compileResponse(parts, request, minting(n)))));
  };
  return {
    model,
    provider: openai,
    layout: openaiLayout,
    answer,
    compacted: (body, n) => answer(body, [compactedResponse("It rains.")], n),
  };
}

function chat(deferral?: "bridge"): GoldenForm {
  const baseURL = "http://chat.test/v1";
  return {
    model: "acme/acme-1",
    provider: openaiCompatible(deferral === undefined ? { baseURL } : { baseURL, deferral }),
    layout: chatLayout,
    ...(deferral === undefined ? { inlineOnly: true } : {}),
    answer(bodyText, parts, n) {
      const headers = { authorization: "Bearer key" };
      const request = accepted(examineChat({ headers, bodyText }, { callArguments: "any" }), n);
      const envelope = { id: `chatcmpl-${n}`, created: 0, request, usage: NO_USAGE };
      const compiled = compileChat(throughBridge(parts, request.visible), request.visible, minting(n));
      const named = deferral === "bridge" ? unbridged : (call: { name: string; input: string }) => call;
      return readChat(arriving(chunks(envelope, compiled)), bodyText, named);
    },
  };
}

const NO_USAGE = { input_tokens: 0, input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 } };

function accepted<E extends { readonly kind: string; readonly failure?: { readonly message: string } }>(
  examined: E,
  n: number,
): Extract<E, { kind: "accepted" }> {
  if (isAccepted(examined)) return examined;
  throw new Error(`request ${n}: ${examined.failure?.message}`);
}

function isAccepted<E extends { readonly kind: string }>(examined: E): examined is Extract<E, { kind: "accepted" }> {
  return examined.kind === "accepted";
}

function minting(n: number): (prefix: string) => string {
  let minted = 0;
  return (prefix) => {
    minted += 1;
    return `${prefix}${n}_${minted}`;
  };
}

/** Events as the SDK hands them out; they are spelled as the API spells them, and their type is the SDK's. */
async function* arriving<T>(events: readonly object[]): AsyncGenerator<T> {
  yield* events as readonly T[];
}
