import { type AssistantEntry, decodeEntry, type PauseEntry } from "../values/entry.ts";
import type { Said } from "../values/task.ts";
import type { EntryRow } from "./contract.ts";

/** What was said in a turn; `rows` begin with its user entry. The texts of two steps are two line breaks apart. */
export function saidIn(turn: string, rows: Iterable<EntryRow>): Said[] {
  const parts: (string[] | PauseEntry)[] = [];
  const answered = new Set<string>();
  let begun = false;
  for (const [, text] of rows) {
    const entry = decodeEntry(text);
    if (begun && entry.kind === "user" && entry.turn !== turn) break;
    begun = true;
    if (entry.kind === "pause_answer") answered.add(entry.pause);
    if (entry.turn !== turn) continue;
    if (entry.kind === "pause") parts.push(entry);
    if (entry.kind !== "assistant") continue;
    const said = textOf(entry);
    const open = parts.at(-1);
    if (said === "") continue;
    if (Array.isArray(open)) open.push(said);
    else parts.push([said]);
  }
  return parts.map((part): Said => {
    if (Array.isArray(part)) return { kind: "text", text: part.join("\n\n") };
    const { pauses } = part;
    return { kind: "pause", pauses, open: pauses.filter(({ id }) => !answered.has(id)) };
  });
}

function textOf({ blocks }: AssistantEntry): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
}
