import { comparableText, contentText, type SentMessage } from "../../context/align-history.ts";
import { badRequest } from "../../http/bad-request.ts";
import { isBlank, limitedText, TEXT_KB } from "../../http/text.ts";
import type { BlobRow } from "../../session/contract.ts";
import type { TranscriptMessage } from "../../session/transcripts.ts";
import type { Part } from "../../values/entry.ts";
import { readImage, readPdf } from "./attachment.ts";
import type { ChatMessage, UserPart } from "./request.ts";

export interface Message {
  readonly role: "user" | "assistant";
  readonly content: readonly Part[];
}

/** What a request's messages come to. */
export interface Messages {
  /** The user message to answer. */
  readonly user: Message;
  /** What came before it. */
  readonly before: readonly Message[];
  /** System and developer messages, joined; null where they say nothing. */
  readonly system: string | null;
  /** Contents of all attachments, each once. */
  readonly blobs: readonly BlobRow[];
}

/**
 * Reads the messages of a request whose last one is the user's. Tool messages are left out: what a client says a tool
 * answered is nobody's evidence. So are messages without content, except the last, which must have some.
 */
export function readMessages(messages: readonly ChatMessage[]): Messages {
  const system: string[] = [];
  const spoken: Message[] = [];
  const blobs = new Map<string, BlobRow>();
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}].content`;
    switch (message.role) {
      case "system":
      case "developer":
        for (const [at, part] of message.content.entries()) system.push(limitedText(part.text, `${path}[${at}]`));
        break;
      case "user": {
        const content: Part[] = [];
        for (const [at, part] of message.content.entries()) {
          const read = readPart(part, `${path}[${at}]`);
          if (read.blob) blobs.set(read.blob.hash, read.blob);
          if (read.part.type !== "text" || !isBlank(read.part.text)) content.push(read.part);
        }
        if (content.length > 0) spoken.push({ role: "user", content });
        else if (index === messages.length - 1) throw badRequest(path, "the user message is empty");
        break;
      }
      case "assistant": {
        const said = message.content.map((part) => part.text ?? part.refusal ?? "").join("");
        const text = limitedText(said, path, TEXT_KB.answer);
        if (!isBlank(text)) spoken.push({ role: "assistant", content: [{ type: "text", text }] });
        break;
      }
      case "tool":
        break;
    }
  }
  const user = spoken.at(-1);
  if (user === undefined) throw badRequest("messages", "there is no user message");
  const joined = system.filter((text) => !isBlank(text)).join("\n\n");
  return { user, before: spoken.slice(0, -1), system: joined === "" ? null : joined, blobs: [...blobs.values()] };
}

/** The messages as history alignment compares them. */
export function sentMessages(messages: readonly Message[]): SentMessage[] {
  return transcriptMessages(messages).map(({ role, text }) => ({ role, text }));
}

/** The messages as transcripts compare them: what is no text counts by its place, its content and its name. */
export function transcriptMessages(messages: readonly Message[]): TranscriptMessage[] {
  return messages
    .map(({ role, content }) => ({
      role,
      text: comparableText(role, contentText(content)),
      attachments: keys(content),
    }))
    .filter(({ role, text }) => role === "user" || text !== "");
}

function keys(content: readonly Part[]): string[] {
  return content.flatMap((part, at) => {
    if (part.type === "text") return [];
    const name = part.type === "document" ? (part.name ?? null) : null;
    return [JSON.stringify([at, part.type, part.source.type === "blob" ? part.source.hash : part.source.url, name])];
  });
}

function readPart(part: UserPart, path: string): { part: Part; blob: BlobRow | null } {
  switch (part.type) {
    case "text":
      return { part: { type: "text", text: limitedText(part.text, path) }, blob: null };
    case "image_url": {
      const { source, blob } = readImage(part.image_url.url, `${path}.image_url.url`);
      return { part: { type: "image", source }, blob };
    }
    case "file": {
      const { source, blob } = readPdf(part.file.file_data, `${path}.file.file_data`);
      const name = part.file.filename;
      return { part: { type: "document", source, ...(name ? { name: name.toWellFormed() } : {}) }, blob };
    }
    case "input_audio":
      throw badRequest(path, "input_audio is not supported", "unsupported_parameter");
  }
}
