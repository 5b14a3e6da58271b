/** How long an answer took, in ms: to its first text, and to its end. */
export interface Timing {
  readonly first: number;
  readonly whole: number;
}

/** Asks, and reads the stream of a Chat Completions answer to its end. Throws where it is not a whole answer. */
export async function readStream(ask: () => Promise<Response>): Promise<Timing> {
  const since = performance.now();
  const response = await ask();
  const decoder = new TextDecoder();
  let first: number | null = null;
  let text = "";
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (first === null && text.includes('"content":"')) first = performance.now() - since;
  }
  if (first === null || !text.endsWith("data: [DONE]\n\n")) throw new Error(`${response.status}: ${text}`);
  return { first, whole: performance.now() - since };
}
