import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { minter, mintId } from "../common/ids.ts";
import { Local } from "../common/local.ts";
import type { Part } from "./answer.ts";
import type { NamespaceBehaviour } from "./availability.ts";
import { PromptCache, type PromptUsage } from "./cache.ts";
import { cacheTerms } from "./cache-terms.ts";
import { compile } from "./compile.ts";
import { type AcceptedRequest, examine } from "./examine.ts";
import type { Failure } from "./failure.ts";
import { responseEvents } from "./response.ts";
import { seenTexts } from "./seen-texts.ts";

const HEADERS = { authorization: "Bearer local" };

/** The emulator's rules and cache without HTTP and without stored responses: for tests that make very many requests. */
export class LocalOpenAI extends Local<Failure, AcceptedRequest, PromptUsage, Part, ResponseStreamEvent> {
  constructor(now: () => number = Date.now, namespaces: NamespaceBehaviour = "model") {
    const cache = new PromptCache();
    super(
      {
        examine: (bodyText) =>
          examine(
            { endpoint: "responses", headers: HEADERS, bodyText },
            {
              foreign: "own",
              namespaces,
              preamble: "pessimistic",
              stored: () => undefined,
              storedSource: () => [],
              storedItem: () => undefined,
            },
          ),
        plan: ({ body, rendered, model }, now) => cache.plan(rendered, cacheTerms(body, model), now),
        seen: ({ body }) => seenTexts(body),
        spell(parts, { request, usage, n, bodyText, now }) {
          const compiled = compile(parts, request, minter(n, bodyText));
          const id = mintId("resp_", n, bodyText);
          const envelope = { id, createdAt: Math.floor(now / 1000), request, usage };
          // The events are spelled as the API spells them; their type is the SDK's.
          return responseEvents(envelope, compiled) as unknown as ResponseStreamEvent[];
        },
      },
      now,
    );
  }
}
