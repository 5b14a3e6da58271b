import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { minter, mintId } from "../common/ids.ts";
import { Local } from "../common/local.ts";
import { PromptCache, type PromptUsage } from "../openai/cache.ts";
import type { Failure } from "../openai/failure.ts";
import type { Part } from "./answer.ts";
import { chunks, compile } from "./compile.ts";
import { type AcceptedRequest, examine } from "./examine.ts";
import { seenTexts } from "./state.ts";

/** The emulator's rules and cache without HTTP: for tests that make very many requests. */
export class LocalChat extends Local<Failure, AcceptedRequest, PromptUsage, Part, ChatCompletionChunk> {
  constructor(now: () => number = Date.now) {
    const cache = new PromptCache();
    super(
      {
        examine: (bodyText) =>
          examine({ headers: { authorization: "Bearer local" }, bodyText }, { callArguments: "any" }),
        plan: ({ rendered, terms }, now) => cache.plan(rendered, terms, now),
        seen: ({ body }) => seenTexts(body),
        spell(parts, { request, usage, n, bodyText, now }) {
          const compiled = compile(parts, request.visible, minter(n, bodyText));
          const id = mintId("chatcmpl-", n, bodyText);
          const envelope = { id, created: Math.floor(now / 1000), request, usage };
          // The chunks are spelled as the API spells them; their type is the SDK's.
          return chunks(envelope, compiled) as unknown as ChatCompletionChunk[];
        },
      },
      now,
    );
  }
}
