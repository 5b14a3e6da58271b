import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import { createCanaryWatch } from "../common/canaries.ts";
import { minter, mintId } from "../common/ids.ts";
import type { Part } from "./answer.ts";
import { PromptCache, type PromptUsage } from "./cache.ts";
import { compile } from "./compile.ts";
import { toolName, toolsOf } from "./content.ts";
import { type AcceptedRequest, examine } from "./examine.ts";
import type { Failure } from "./failure.ts";
import { messageEvents } from "./message.ts";
import { seenTexts } from "./seen-texts.ts";
import { sign } from "./signatures.ts";

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
      answer(parts: readonly Part[]): RawMessageStreamEvent[];
    };

const HEADERS = {
  "x-api-key": "local",
  "anthropic-version": "2023-06-01",
  "anthropic-beta": "mid-conversation-system-2026-04-07,mid-conversation-tool-changes-2026-07-01,compact-2026-01-12",
};

/** The emulator's rules and cache without HTTP: for tests that make very many requests. */
export class LocalModel {
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
    const request = examine({ endpoint: "messages", headers: HEADERS, bodyText }, { signatures: "own" });
    if (request.kind === "refused") return request;
    const { body, rendered, chain, model, visible, binding } = request;
    const plan = this.#cache.plan(rendered, chain, model, this.#now());
    return {
      kind: "accepted",
      request,
      usage: plan.usage,
      idealCachedTokens: plan.ideal,
      flags: this.#watch(seenTexts(body)),
      answer(parts) {
        const compiled = compile(parts, {
          visible,
          declared: new Set(toolsOf(body).map((tool) => toolName(tool) ?? "")),
          mint: minter(n, bodyText),
          sign: (text) => sign(text, binding),
        });
        plan.commit();
        const envelope = { id: mintId("msg_", n, bodyText), model: body.model, usage: plan.usage, droppedThinking: [] };
        // The events are spelled as the API spells them; their type is the SDK's.
        return messageEvents(envelope, compiled) as unknown as RawMessageStreamEvent[];
      },
    };
  }
}
