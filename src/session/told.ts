import { isMessage } from "../context/effective.ts";
import { decodeEntry, type Numbered, type Part, type PauseEntry, type ResultsEntry } from "../values/entry.ts";
import { SEARCH_TOOL } from "../values/tool.ts";
import type { TurnEvent, TurnEventBody } from "../values/turn-event.ts";
import { addUsage, type Usage } from "../values/usage.ts";
import { parseEnd } from "./append.ts";
import { usedByChildren } from "./children.ts";
import type { CallRecord, SessionId, TurnEnd } from "./contract.ts";
import { EventLog } from "./event-log.ts";
import type { SessionRow, Store } from "./store.ts";

/**
 * The events of a turn as its entries tell them: what is left of a turn whose own events are with nobody any more. Null
 * where the session has no such turn. The same entries give the same events under the same numbers.
 */
export function toldByEntries(store: Store, row: SessionRow, turn: string): EventLog | null {
  const newest = row.turn === turn;
  const entries: Numbered[] = [];
  for (const [seq, text] of store.entries(newest ? row.user_seq - 1 : 0)) {
    const entry = decodeEntry(text);
    if (entry.turn === turn) entries.push({ seq, entry });
  }
  if (!newest && entries.length === 0) return null;
  const calls = [...store.calls(0)].flatMap(({ call }) => (call.turn === turn ? [call] : []));
  const running = newest && row.status === "running";
  const end = running ? null : newest ? parseEnd(row.ended) : {};
  const bodies = eventsOf(row, turn, entries, calls, end);
  const id = `${turn}~${running ? entries.length : "end"}`;
  return new EventLog(
    id,
    bodies.map((body, index): TurnEvent => ({ ...body, n: index + 1 })),
  );
}

/** Whether a turn's last event tells how its session's newest turn stands. */
export function isEndOf({ status }: Pick<SessionRow, "status">, { type }: Pick<TurnEvent, "type">): boolean {
  const failed = status === "failed" || status === "refused";
  return status !== "running" && failed === (type === "failed");
}

function eventsOf(
  { agent, conversation }: SessionId,
  turn: string,
  entries: readonly Numbered[],
  calls: readonly CallRecord[],
  end: TurnEnd | null,
): TurnEventBody[] {
  const events: TurnEventBody[] = [{ type: "started", turn, conversation, agent }];
  let step = 0;
  // A pause and the results that end it both have those of the calls that did not wait.
  const told = new Set<string>();
  const tellResults = ({ of, results }: PauseEntry | ResultsEntry) => {
    for (const { call: id, name, status, content } of results) {
      if (!told.has(`${of} ${id}`)) events.push({ type: "result", id, name, status, text: textOf(content) });
      told.add(`${of} ${id}`);
    }
  };
  for (const { entry } of entries) {
    switch (entry.kind) {
      case "assistant": {
        if (entry.origin !== "runtime") break;
        step += 1;
        const { verdict = { prefix: "extends" } as const } =
          calls.findLast((call) => call.step === step && call.purpose === undefined) ?? {};
        events.push({ type: "request", step, verdict, model: entry.model }, { type: "answering", step });
        for (const block of entry.blocks) {
          if (block.type === "text") events.push({ type: "text", step, text: block.text });
          if (block.type === "thinking" && block.text !== "") events.push({ type: "thinking", step, text: block.text });
          if (block.type === "call") {
            const { id, name, input } = block;
            events.push({ type: "call", step, id, name, input, host: false });
          }
        }
        break;
      }
      case "pause":
        tellResults(entry);
        for (const pause of entry.pauses) events.push({ type: "pause", pause });
        break;
      case "results":
        tellResults(entry);
        break;
      case "host_search": {
        const input = JSON.stringify({ query: entry.names.join(", ") });
        events.push({ type: "call", step: step + 1, id: entry.call, name: SEARCH_TOOL, input, host: true });
        break;
      }
      default:
        break;
    }
  }
  if (end !== null) events.push(ending(entries, calls, end));
  return events;
}

function ending(entries: readonly Numbered[], calls: readonly CallRecord[], end: TurnEnd): TurnEventBody {
  const handed: Usage = usedByChildren(entries);
  const usage = calls.reduce((sum, call) => addUsage(sum, call.usage), handed);
  if (end.failure !== undefined) return { type: "failed", failure: end.failure, usage };
  const last = entries.findLast(({ entry }) => entry.kind === "assistant" && isMessage(entry))?.entry;
  const stop = end.stop ?? (last?.kind === "assistant" ? last.stop : null);
  if (stop === null) {
    return { type: "failed", failure: { reason: "internal", message: "The turn ended without an answer." }, usage };
  }
  return { type: "done", stop, usage, ...(end.detail === undefined ? {} : { detail: end.detail }) };
}

function textOf(content: readonly Part[]): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
