import { ToolDeferrals } from "../values/tool-deferrals.ts";
import type { AppendAnswer, AppendRequest, TurnEnd } from "./contract.ts";
import { sessionName } from "./name.ts";
import { keepPartial } from "./partial.ts";
import type { SessionRow, Store } from "./store.ts";
import { noteEnd } from "./tasks.ts";
import { writeChain } from "./write-chain.ts";

/** How an append stands to the session. `repeat`: it is the newest one, whose answer was lost on the way. */
export type Admission = "new" | "repeat" | "lost";

/** Decides whether an append counts. Throws when it does not fit what is stored, which is a fault of the caller. */
export function admit(row: SessionRow | null, request: AppendRequest): Admission {
  if (row === null || row.deleted_at !== null || request.fence !== row.fence) return "lost";
  if (row.last_append === appendKey(request)) return "repeat";
  if (row.status !== "running" || row.turn !== request.turn) return "lost";
  if (request.firstSeq !== row.last_seq + 1) {
    throw new Error(`an append that starts at ${request.firstSeq} does not follow entry ${row.last_seq}`);
  }
  if (request.deferrals !== undefined) ToolDeferrals.parse(request.deferrals, sessionName(row));
  return "new";
}

/** Stores a new append, as one transaction. */
export function applyAppend(store: Store, row: SessionRow, request: AppendRequest, now: number): AppendAnswer {
  const rev = row.rev + 1;
  const lastSeq = row.last_seq + request.entries.length;
  store.transaction(() => {
    store.addEntries(rev, request.firstSeq, request.entries);
    store.addBlobs(rev, request.blobs ?? []);
    if (request.ends !== undefined) store.addEnding(rev, request.ends);
    if (request.chain) writeChain(store, rev, request.chain);
    if (request.call) store.addCall(rev, request.call);
    if (request.instructions !== undefined) store.addText(rev, "instructions", request.instructions);
    if (request.kind === "finish") noteEnd(store, rev, request.turn, request.end?.status ?? "done", request.end, now);
    store.update({
      rev,
      last_seq: lastSeq,
      updated_at: now,
      last_append: appendKey(request),
      ...(request.kind === "answer" || request.kind === "finish" ? { step: request.step } : {}),
      // What a turn rereads then is told what had been sent when the mode was changed.
      ...(request.mode === undefined
        ? {}
        : { mode: request.mode, sent_before: row.sent_through, wire_before: row.wire }),
      ...(request.sentThrough === undefined ? {} : { sent_through: request.sentThrough }),
      ...(request.deferrals === undefined ? {} : { deferrals: request.deferrals, deferrals_rev: rev }),
      ...(request.kind === "handover" ? { handed: 1 } : {}),
      ...(request.kind === "finish" ? ended(request) : {}),
    });
    if (request.partial !== undefined) keepPartial(store, rev, request.partial);
  });
  return { kind: "ok", lastSeq };
}

function appendKey({ turn, step, kind, n = 0 }: AppendRequest): string {
  return `${turn}/${step}/${kind}${n === 0 ? "" : `/${n}`}`;
}

function ended({ end }: AppendRequest): Pick<SessionRow, "status" | "cancel" | "refused_from" | "ended"> {
  const refused_from = end?.status === "refused" ? end.from : 0;
  return { status: end?.status ?? "done", cancel: 0, refused_from, ended: endText(end ?? {}) };
}

/** How a turn ended, as its row keeps it: without what is only for the developer's log. */
export function endText({ stop, detail, failure, left }: TurnEnd): string {
  return JSON.stringify({ stop, detail, left, failure: failure && { ...failure, detail: undefined } });
}

/** Reads back what {@link endText} wrote. */
export function parseEnd(text: string): TurnEnd {
  const value: TurnEnd = text === "" ? {} : JSON.parse(text);
  return value;
}
