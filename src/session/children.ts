import { callsOf } from "../context/effective.ts";
import { sha256 } from "../prefix/digest.ts";
import { decodeEntry, type Numbered, type ToolResult } from "../values/entry.ts";
import { TRANSFER_TOOL } from "../values/tool.ts";
import { sumUsage, type UsageSum } from "../values/usage.ts";
import type { EntryRow, SessionId } from "./contract.ts";
import { sessionName } from "./name.ts";

/**
 * The conversation of a sub-session: the same for the same call, so that a call that is run again goes on with it. `of` is
 * the entry that made the call: some providers number their calls anew where a context begins anew.
 */
export function subConversation(parent: SessionId, of: number, call: string): string {
  return `sub_${sha256(JSON.stringify([sessionName(parent), of, call])).slice(0, 32)}`;
}

/**
 * The sub-sessions that a session's calls may have begun, whether or not their results came. A copy of the session has the
 * calls, but none of the sub-sessions: they go by the name of the one that made them.
 */
export function childrenOf(parent: SessionId, entries: Iterable<EntryRow>): SessionId[] {
  const children: SessionId[] = [];
  for (const [seq, text] of entries) {
    if (!text.includes(TRANSFER_TOOL)) continue;
    const entry = decodeEntry(text);
    if (entry.kind !== "assistant" || entry.origin !== "runtime") continue;
    for (const { id, name, input } of callsOf(entry)) {
      const agent = name === TRANSFER_TOOL ? agentOf(input) : null;
      if (agent !== null) children.push({ owner: parent.owner, agent, conversation: subConversation(parent, seq, id) });
    }
  }
  return children;
}

/** What the sub-sessions used that worked on the calls of these entries. The results of a pause stand again in what closes it. */
export function usedByChildren(entries: readonly Numbered[]): UsageSum {
  const closed = new Set(entries.flatMap(({ entry }) => (entry.kind === "results" ? entry.of : [])));
  return sumUsage(
    entries.map(({ entry }) => {
      const counts = entry.kind === "results" || (entry.kind === "pause" && !closed.has(entry.of));
      return usedFor(counts ? entry.results : []);
    }),
  );
}

/** What the sub-sessions used that these are results of. */
export function usedFor(results: readonly ToolResult[]): UsageSum {
  return sumUsage(results.flatMap(({ used }) => used ?? []));
}

/** The agent that a call hands its task to; null where the model sent no such thing. */
function agentOf(input: string): string | null {
  try {
    const value: unknown = JSON.parse(input);
    const named = typeof value === "object" && value !== null && "agent" in value ? value.agent : null;
    return typeof named === "string" ? named : null;
  } catch {
    return null; // Such a call was refused, and began nothing.
  }
}
