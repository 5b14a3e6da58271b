import { randomBytes } from "node:crypto";
import type { Once } from "../session/contract.ts";
import { badRequest } from "./bad-request.ts";

/** `minted`: made for this request, so no session can exist under it yet. */
export interface Conversation {
  readonly id: string;
  readonly minted: boolean;
}

/** Ids that clients bring (design §1). */
const CONVERSATION_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * Headers that name a conversation, the first one wins: docker-agent's and LibreChat's, Open WebUI's, and two that
 * other clients use.
 */
const HEADERS = ["x-conversation-id", "x-openwebui-chat-id", "x-session-id", "x-chat-id"] as const;

/** Fields of a body that name a conversation. */
export interface NamingBody {
  readonly metadata?: { readonly conversation_id?: string | null | undefined } | null | undefined;
  readonly conversation?: { readonly id: string } | null | undefined;
}

/**
 * The id that a request gives, or null. Headers go before the body; an empty value is none (a client's template that
 * found nothing to fill in). Throws `bad_request` where the id has other characters or is too long.
 */
export function givenConversation(headers: Headers, body: NamingBody): string | null {
  for (const name of HEADERS) {
    const value = headers.get(name)?.trim();
    if (value) return checkConversationId(value, name);
  }
  if (body.metadata?.conversation_id) {
    return checkConversationId(body.metadata.conversation_id, "metadata.conversation_id");
  }
  return body.conversation?.id ? checkConversationId(body.conversation.id, "conversation") : null;
}

/**
 * The conversation of a request: the id it gives; else one that follows from its `Idempotency-Key`, so that a repeat
 * gets to the same; else the one that `derive` finds by what the client resent; else a new one.
 */
export async function resolveConversation(
  given: string | null,
  { key }: Once,
  derive: () => Promise<string | null>,
): Promise<Conversation> {
  const id = given ?? (await derive()) ?? (key && `key-${key.slice(0, 32)}`);
  return id === null ? { id: mintId(), minted: true } : { id, minted: false };
}

/** Answers `id`, or throws a `bad_request` that says where it stood. */
export function checkConversationId(id: string, where: string): string {
  if (CONVERSATION_ID.test(id)) return id;
  throw badRequest(where, "a conversation id is 1 to 128 characters of A-Z a-z 0-9 . _ : -");
}

/** 128 random bits as 32 hexadecimal digits: nobody's to guess. */
export function mintId(): string {
  return randomBytes(16).toString("hex");
}
