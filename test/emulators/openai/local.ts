import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { createCanaryWatch } from "../common/canaries.ts";
import { minter, mintId } from "../common/ids.ts";
import type { Part } from "./answer.ts";
import type { NamespaceBehaviour } from "./availability.ts";
import { PromptCache, type PromptUsage } from "./cache.ts";
import { cacheTerms } from "./cache-terms.ts";
import { compile } from "./compile.ts";
import { type AcceptedRequest, examine } from "./examine.ts";
import type { Failure } from "./failure.ts";
import { responseEvents } from "./response.ts";
import { seenTexts } from "./seen-texts.ts";

/** A request that the rules refuse, or one that can be answered. */
export type Received =
  | { readonly kind: "refused"; readonly failure: Failure }
  | {
      readonly kind: "accepted";
      readonly request: AcceptedRequest;
      readonly usage: PromptUsage;
      readonly idealCachedTokens: number;
      readonly flags: readonly string[];
      /** Spells an answer as the stream's events. What the request writes to the cache can be read from then on. */
      answer(parts: readonly Part[]): ResponseStreamEvent[];
    };

const HEADERS = { authorization: "Bearer local" };

/** The emulator's rules and cache without HTTP and without stored responses: for tests that make very many requests. */
export class LocalOpenAI {
  readonly #cache = new PromptCache();
  readonly #watch = createCanaryWatch();
  readonly #now: () => number;
  readonly #namespaces: NamespaceBehaviour;
  #received = 0;

  constructor(now: () => number = Date.now, namespaces: NamespaceBehaviour = "model") {
    this.#now = now;
    this.#namespaces = namespaces;
  }

  /** Reads a request as the API would. */
  receive(bodyText: string): Received {
    this.#received += 1;
    const n = this.#received;
    const request = examine(
      { endpoint: "responses", headers: HEADERS, bodyText },
      {
        foreign: "own",
        namespaces: this.#namespaces,
        preamble: "pessimistic",
        stored: () => undefined,
        storedSource: () => [],
        storedItem: () => undefined,
      },
    );
    if (request.kind === "refused") return request;
    const { body, rendered, model } = request;
    const now = this.#now();
    const plan = this.#cache.plan(rendered, cacheTerms(body, model), now);
    return {
      kind: "accepted",
      request,
      usage: plan.usage,
      idealCachedTokens: plan.ideal,
      flags: this.#watch(seenTexts(body)),
      answer(parts) {
        const compiled = compile(parts, request, minter(n, bodyText));
        plan.commit();
        const id = mintId("resp_", n, bodyText);
        const envelope = { id, createdAt: Math.floor(now / 1000), request, usage: plan.usage };
        // The events are spelled as the API spells them; their type is the SDK's.
        return responseEvents(envelope, compiled) as unknown as ResponseStreamEvent[];
      },
    };
  }
}
