import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { createCanaryWatch } from "../common/canaries.ts";
import { minter, mintId } from "../common/ids.ts";
import { PromptCache, type PromptUsage } from "../openai/cache.ts";
import type { Failure } from "../openai/failure.ts";
import type { Part } from "./answer.ts";
import { chunks, compile } from "./compile.ts";
import { type AcceptedRequest, examine } from "./examine.ts";
import { seenTexts } from "./state.ts";

/** A request that the rules refuse, or one that can be answered. */
export type Received =
  | { readonly kind: "refused"; readonly failure: Failure }
  | {
      readonly kind: "accepted";
      readonly request: AcceptedRequest;
      readonly usage: PromptUsage;
      readonly idealCachedTokens: number;
      readonly flags: readonly string[];
      /** Spells an answer as the stream's chunks. What the request writes to the cache can be read from then on. */
      answer(parts: readonly Part[]): ChatCompletionChunk[];
    };

/** The emulator's rules and cache without HTTP: for tests that make very many requests. */
export class LocalChat {
  readonly #cache = new PromptCache();
  readonly #watch = createCanaryWatch();
  readonly #now: () => number;
  #received = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Reads a request as the API would. */
  receive(bodyText: string): Received {
    this.#received += 1;
    const n = this.#received;
    const request = examine({ headers: { authorization: "Bearer local" }, bodyText }, { callArguments: "any" });
    if (request.kind === "refused") return request;
    const now = this.#now();
    const plan = this.#cache.plan(request.rendered, request.terms, now);
    return {
      kind: "accepted",
      request,
      usage: plan.usage,
      idealCachedTokens: plan.ideal,
      flags: this.#watch(seenTexts(request.body)),
      answer(parts) {
        const compiled = compile(parts, request.visible, minter(n, bodyText));
        plan.commit();
        const id = mintId("chatcmpl-", n, bodyText);
        const envelope = { id, created: Math.floor(now / 1000), request, usage: plan.usage };
        // The chunks are spelled as the API spells them; their type is the SDK's.
        return chunks(envelope, compiled) as unknown as ChatCompletionChunk[];
      },
    };
  }
}
