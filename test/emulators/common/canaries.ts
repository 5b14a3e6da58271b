/** One piece of text of a request. `tool` is output of a tool inside its result; `prompt` is user or system text. */
export interface SeenText {
  readonly place: "tool" | "prompt";
  readonly path: string;
  readonly text: string;
}

/** Marks that tests hide in what their tools say. */
export const CANARY = /\bcanary-[a-z0-9]+\b/g;

/**
 * Finds tool output that has left its result. A mark that was first seen in a tool result and stands later in user or
 * system text is flagged, once for each place. Remembers over all requests of one emulator.
 */
export function createCanaryWatch(pattern: RegExp = CANARY): (texts: readonly SeenText[]) => string[] {
  const everywhere = new RegExp(pattern, pattern.flags.includes("g") ? pattern.flags : `${pattern.flags}g`);
  const firstSeen = new Map<string, SeenText["place"]>();
  return (texts) => {
    const flags: string[] = [];
    for (const { place, path, text } of texts) {
      for (const [mark] of text.matchAll(everywhere)) {
        const origin = firstSeen.get(mark);
        if (origin === undefined) firstSeen.set(mark, place);
        else if (origin === "tool" && place === "prompt")
          flags.push(`tool output outside a result: ${mark} at ${path}`);
      }
    }
    return flags;
  };
}
