import * as anthropic from "../emulators/anthropic/index.ts";
import type { SharedPart } from "../emulators/common/answer.ts";
import * as openai from "../emulators/openai/index.ts";
import { throughBridge } from "../emulators/openai-chat/bridge.ts";
import * as chat from "../emulators/openai-chat/index.ts";
import { describedTools } from "./wire-chat.ts";
import { cacheTerms } from "./wire-openai.ts";
import type { WireName } from "./wires.ts";

/** A request that an emulator accepted, whosever API it plays. */
export interface Asked {
  readonly api: WireName;
  readonly bodyText: string;
  readonly visible: readonly string[];
  readonly flags: readonly string[];
  /** Cached tokens: read, what could have been read, and what can be read once it is answered. */
  readonly read: number;
  readonly ideal: number;
  readonly cached: number;
  /** As in `Met`. */
  readonly reach?: number;
}

/** What the ring does to a request: an answer with its cuts, or a failure. */
export type Deed =
  | { readonly kind: "answer"; readonly parts: readonly SharedPart[] }
  | { readonly kind: "fail"; readonly how: "broken" | "rejected" | "too_long" };

interface Recorded {
  readonly n: number;
  readonly error: { readonly rule: string; readonly message: string } | null;
}

/** The rules of failures that the ring itself injects. */
const INJECTED: ReadonlySet<string> = new Set(["E-A34", "E-O19", "E-C11"]);

const NO_RETRY = { "x-should-retry": "false" };

const REJECTED = "The image is too large.";
const TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum";

/** An emulator for each API, all answering alike. */
export async function startModels(answer: (asked: Asked) => Deed) {
  const models = {
    anthropic: await anthropic.startAnthropicEmulator({
      answer(request) {
        const { cache_read_input_tokens: read = 0, cache_creation_input_tokens: written = 0 } = request.usage ?? {};
        const ideal = request.idealCachedTokens;
        const deed = answer({ ...request, api: "anthropic", read, ideal, cached: read + written });
        if (deed.kind === "answer") return deed.parts;
        if (deed.how === "broken") return anthropic.httpFailure(500, "api_error", "Broken.", NO_RETRY);
        return anthropic.httpFailure(400, "invalid_request_error", deed.how === "rejected" ? REJECTED : TOO_LONG);
      },
    }),
    openai: await openai.startOpenAIEmulator({
      answer(request) {
        const terms = request.usage === null ? {} : cacheTerms(request.usage, request.body.model);
        const deed = answer({ ...request, api: "openai", ...cachedOf(request), ...terms });
        if (deed.kind === "fail") return openaiFailure(deed.how);
        const reasons = openai.findModel(request.body.model)?.reasoning;
        return deed.parts.filter(({ kind }) => kind !== "thinking" || reasons);
      },
    }),
    chat: await chat.startChatEmulator({
      answer(request) {
        const api = request.body.model === "acme-2" ? "bridge" : "chat";
        const visible = [...request.visible, ...describedTools(request.bodyText)];
        const deed = answer({ ...request, api, visible, ...cachedOf(request) });
        if (deed.kind === "fail") return openaiFailure(deed.how);
        return throughBridge(deed.parts, request.visible);
      },
    }),
  };
  const all = Object.values(models);
  const requests = () => all.flatMap((model): readonly Recorded[] => model.requests);
  return {
    bindings: {
      ANTHROPIC_BASE_URL: models.anthropic.url,
      OPENAI_BASE_URL: models.openai.url,
      CHAT_BASE_URL: models.chat.url,
    },
    get requests() {
      return requests().length;
    },
    /** Requests that were refused, and what scripts did that no model would do. */
    get problems() {
      const refused = requests().filter(({ error }) => error !== null && !INJECTED.has(error.rule));
      return [
        ...refused.map(({ error, n }) => `request ${n}: refused by ${error?.rule}: ${error?.message}`),
        ...all.flatMap((model) => model.takeProblems()).map(({ message }) => message),
      ];
    },
    async close() {
      await Promise.all(all.map((model) => model.close()));
    },
  };
}

function cachedOf({ usage, idealCachedTokens: ideal }: Pick<openai.RecordedRequest, "usage" | "idealCachedTokens">) {
  return { read: usage?.input_tokens_details.cached_tokens ?? 0, ideal, cached: usage?.input_tokens ?? 0 };
}

function openaiFailure(how: "broken" | "rejected" | "too_long"): openai.HttpFailure {
  switch (how) {
    case "broken":
      return openai.httpFailure(500, "server_error", "Broken.", null, NO_RETRY);
    case "rejected":
      return openai.httpFailure(400, "invalid_request_error", REJECTED, "image_too_large");
    case "too_long":
      return openai.httpFailure(400, "invalid_request_error", TOO_LONG, "context_length_exceeded");
  }
}
