import type { RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import { minter, mintId } from "../common/ids.ts";
import { Local } from "../common/local.ts";
import type { Part } from "./answer.ts";
import { PromptCache, type PromptUsage } from "./cache.ts";
import { compile } from "./compile.ts";
import { toolName, toolsOf } from "./content.ts";
import { type AcceptedRequest, examine } from "./examine.ts";
import type { Failure } from "./failure.ts";
import { messageEvents } from "./message.ts";
import { seenTexts } from "./seen-texts.ts";
import { sign } from "./signatures.ts";

const HEADERS = {
  "x-api-key": "local",
  "anthropic-version": "2023-06-01",
  "anthropic-beta": "mid-conversation-system-2026-04-07,mid-conversation-tool-changes-2026-07-01,compact-2026-01-12",
};

/** The emulator's rules and cache without HTTP: for tests that make very many requests. */
export class LocalModel extends Local<Failure, AcceptedRequest, PromptUsage, Part, RawMessageStreamEvent> {
  constructor(now: () => number = Date.now) {
    const cache = new PromptCache();
    super(
      {
        examine: (bodyText) => examine({ endpoint: "messages", headers: HEADERS, bodyText }, { signatures: "own" }),
        plan: ({ rendered, chain, model }, now) => cache.plan(rendered, chain, model, now),
        seen: ({ body }) => seenTexts(body),
        spell(parts, { request: { body, visible, binding }, usage, n, bodyText }) {
          const compiled = compile(parts, {
            visible,
            declared: new Set(toolsOf(body).map((tool) => toolName(tool) ?? "")),
            mint: minter(n, bodyText),
            sign: (text) => sign(text, binding),
          });
          const envelope = { id: mintId("msg_", n, bodyText), model: body.model, usage, droppedThinking: [] };
          // The events are spelled as the API spells them; their type is the SDK's.
          return messageEvents(envelope, compiled) as unknown as RawMessageStreamEvent[];
        },
      },
      now,
    );
  }
}
