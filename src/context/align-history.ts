/** A message as a client shows it: user and assistant text, normalised by {@link normaliseText}. */
export interface SentMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}
