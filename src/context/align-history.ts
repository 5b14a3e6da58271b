import type { Numbered, Part } from "../values/entry.ts";
import { pauseText } from "../values/pause.ts";

/** A message as a client shows it: its text, made comparable by {@link comparableText}. */
export interface SentMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/**
 * A message of ours, as a client would have seen it. `seq` is that of its (first) entry. `afterPause`: its turn went on
 * when a pause was answered, elsewhere, so that a client may not have seen it.
 */
export type StoredMessage = SentMessage & { readonly seq: number; readonly afterPause?: true };

/** How the messages a client sent stand to the session's. `user` is the sequence number of our user entry. */
export type Alignment =
  /** They go on from ours: the last one is new. */
  | { readonly kind: "append" }
  /** The last one is that entry, which has an answer: answer it anew. */
  | { readonly kind: "regenerate"; readonly user: number }
  /** The last one stands in the place of that entry. */
  | { readonly kind: "edited"; readonly user: number }
  /** The last one is that entry, our newest, which has no answer yet. */
  | { readonly kind: "rerun"; readonly user: number }
  /** They have nothing to do with ours: our history stays, the last one is new. */
  | { readonly kind: "unrelated" };

/**
 * Text in the form in which two sides compare it: without `<think>` and `<details>` blocks, which chat UIs add, trimmed,
 * white space collapsed. Runs in linear time on any input.
 */
export function normaliseText(text: string): string {
  return withoutBlocks(text).replace(/\s+/g, " ").trim();
}

/**
 * The text by which two messages of a role count as the same. What the user wrote counts as written, but for line ends
 * and white space around it: it is the client's own, and comes back unchanged. What the assistant said comes back as
 * the client shows it, so only its {@link normaliseText} can be compared.
 */
export function comparableText(role: SentMessage["role"], text: string): string {
  return role === "assistant" ? normaliseText(text) : text.replaceAll("\r\n", "\n").trim();
}

/** The text of a message's content: its text parts, a line each. */
export function contentText(content: readonly Part[]): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/**
 * The messages of the effective context as a client shows them. All that a turn said is one message, its steps two line
 * breaks apart; a turn that said nothing gives none. A pause is part of what was said, and the end of the message.
 */
export function storedMessages(effective: readonly Numbered[]): StoredMessage[] {
  const messages: (Omit<StoredMessage, "text"> & { texts: string[]; turn: string | null })[] = [];
  for (const { seq, entry } of effective) {
    const open = messages.at(-1);
    if (entry.kind === "user" && entry.origin === "client") {
      messages.push({ role: "user", seq, texts: [contentText(entry.content)], turn: null });
    } else if (entry.kind === "assistant") {
      const text = entry.blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
      const turn = entry.origin === "runtime" ? entry.turn : null;
      if (turn !== null && open?.role === "assistant" && open.turn === turn) open.texts.push(text);
      else {
        const afterPause = turn !== null && open?.role === "assistant";
        messages.push({ role: "assistant", seq, texts: [text], turn, ...(afterPause ? { afterPause } : {}) });
      }
    } else if (entry.kind === "pause" && open?.role === "assistant") {
      open.texts.push(...entry.pauses.map(pauseText));
      open.turn = null;
    }
  }
  return messages
    .map(({ texts, turn: _, ...message }) => ({
      ...message,
      text: comparableText(message.role, texts.join("\n\n")),
    }))
    .filter(isShown);
}

/** Decides what a request under a known conversation means (design §2). `sent` ends with its new user message. */
export function alignHistory(stored: readonly StoredMessage[], sent: readonly SentMessage[]): Alignment {
  const shown = sent.filter(isShown);
  const asked = shown.at(-1);
  const newest = stored.at(-1);
  if (asked === undefined || newest === undefined) return { kind: "append" };

  if (!shown.some((message) => message.role === "assistant")) {
    if (newest.role === "user" && newest.text === asked.text) return { kind: "rerun", user: newest.seq };
    const ours = stored.filter((message) => message.role === "user");
    const last = ours.at(-1);
    const same = ours.length === shown.length && ours.every((message, index) => message.text === shown[index]?.text);
    return same && last ? { kind: "regenerate", user: last.seq } : { kind: "append" };
  }

  const end = matchedPrefix(stored, shown.slice(0, -1));
  if (end === null) return { kind: "unrelated" };
  const there = stored.find(
    (message, index) =>
      index >= end && message.role === "user" && (message.text === asked.text || !isUnanswered(stored, index)),
  );
  if (there === undefined) return { kind: "append" };
  const isNewest = there === newest;
  if (there.text === asked.text) return { kind: isNewest ? "rerun" : "regenerate", user: there.seq };
  return isNewest ? { kind: "append" } : { kind: "edited", user: there.seq };
}

/** An assistant message without text is none; an empty user message (an image) is one. */
function isShown(message: SentMessage): boolean {
  return message.role === "user" || message.text !== "";
}

/**
 * How many of our messages `before` stands for, or null where it does not begin as ours does. A user message of ours
 * that got no answer may be left out, since clients drop a message that failed, and what followed a pause.
 */
function matchedPrefix(stored: readonly StoredMessage[], before: readonly SentMessage[]): number | null {
  let at = 0;
  for (const message of before) {
    while ((isUnanswered(stored, at) || stored[at]?.afterPause) && !same(stored[at], message)) at++;
    if (!same(stored[at], message)) return null;
    at++;
  }
  return at;
}

function isUnanswered(stored: readonly StoredMessage[], at: number): boolean {
  return stored[at]?.role === "user" && stored[at + 1]?.role === "user";
}

function same(ours: SentMessage | undefined, theirs: SentMessage): boolean {
  return ours !== undefined && ours.role === theirs.role && ours.text === theirs.text;
}

/** `text` without its closed `<think>` and `<details>` blocks, nested ones included. */
function withoutBlocks(text: string): string {
  const kept: string[] = [];
  const open: { readonly tag: string; readonly from: number }[] = [];
  let end = 0;
  for (const match of text.matchAll(/<(\/?)(think|details)\b[^<>]*>/gi)) {
    const [whole, closing, name = ""] = match;
    const tag = name.toLowerCase();
    kept.push(text.slice(end, match.index));
    end = match.index + whole.length;
    const innermost = open.at(-1);
    if (closing === "/" && innermost?.tag === tag) {
      kept.length = innermost.from;
      open.pop();
      continue;
    }
    if (closing !== "/") open.push({ tag, from: kept.length });
    kept.push(whole);
  }
  return kept.join("") + text.slice(end);
}
