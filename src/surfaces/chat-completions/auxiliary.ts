import { contentText } from "../../context/align-history.ts";
import type { Message } from "./messages.ts";

/** How Open WebUI's prompts for titles, tags, follow-ups and search queries begin (its `config.py`). */
const TASK = /^\s*### Task:/;

/**
 * Whether a client asks about a chat instead of going on with it: its one message is such a prompt. It comes under the
 * chat's own id, in whose session it has no place. A person who begins a chat with these words loses nothing as long as
 * the client resends its history: the next request brings both messages along.
 */
export function isAuxiliary(user: Message, before: readonly Message[]): boolean {
  return before.length === 0 && TASK.test(contentText(user.content));
}
