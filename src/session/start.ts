import { contentText, normaliseText } from "../context/align-history.ts";
import { effectiveContext, openBatch } from "../context/effective.ts";
import { decodeEntry, encodeEntry } from "../values/entry.ts";
import { ToolDeferrals } from "../values/tool-deferrals.ts";
import { admittedWith } from "./admission.ts";
import { endText } from "./append.ts";
import { closeBatch, planGoingOn, planTurn } from "./begin.ts";
import type { BeginRequest, ResumeRequest, TurnEnd } from "./contract.ts";
import { History, newCuts, rowsFrom } from "./history.ts";
import { sessionName } from "./name.ts";
import { partialOf } from "./partial.ts";
import { KEY_MS } from "./repeat.ts";
import type { SessionRow, Store } from "./store.ts";
import type { FrozenInstructions } from "./system-updates.ts";
import { noteEnd, noteState } from "./tasks.ts";

const TITLE_CHARS = 80;

/** Makes the session and its first turn. Answers its entries. */
export function createSession(store: Store, request: BeginRequest, now: number): History {
  const texts = [...request.seed, request.user];
  const title = titleOf(request.user);
  const rev = 1;
  store.transaction(() => {
    store.prepare();
    store.addEntries(rev, 1, texts);
    store.addBlobs(rev, request.blobs);
    if (request.clientSystem !== null) store.addText(rev, "client_system", request.clientSystem);
    noteMessage(store, rev, request, request.turn, texts.length, now);
    store.create({
      owner: request.id.owner,
      agent: request.id.agent,
      conversation: request.id.conversation,
      title,
      mode: "agent",
      created_at: now,
      updated_at: now,
      generation: crypto.randomUUID(),
      rev,
      last_seq: texts.length,
      sent_through: texts.length,
      cuts: "[]",
      deferrals: null,
      deferrals_rev: 0,
      fence: firstFence(),
      status: "running",
      turn: request.turn,
      user_seq: texts.length,
      refused_from: 0,
      step: 0,
      attempts: 1,
      lease_seconds: request.leaseSeconds,
      cancel: 0,
      attempt: request.turn,
      sent_before: 0,
      wire: request.wire,
      wire_before: request.wire,
      resumed: 0,
      last_append: "",
      forks: 0,
      forked_from: null,
      forked_at: null,
      parent: request.parent ?? null,
      keep_ms: request.keepMs ?? null,
      flushed_rev: 0,
      flushed_seq: 0,
      recorded_rev: 0,
      refused: "[]",
      admitted: request.admitted ? admittedWith(null, request.turn) : "[]",
      deleted_at: null,
      ...begun(request, now),
    });
    keepKey(store, request, request.turn, now);
  });
  return new History().add(rowsFrom(1, texts));
}

/**
 * Gives the session to a turn, as one transaction. A turn that is still running counts as dead. Answers the entries as
 * they are now, and whether the deferrals were reset; null where there is nothing to go on with. Throws, before it
 * writes, when the stored deferrals are malformed.
 */
export function takeTurn(
  store: Store,
  row: SessionRow,
  request: BeginRequest,
  now: number,
): { readonly history: History; readonly reset: boolean } | null {
  const history = History.read(store, row);
  const found = {
    all: history.all,
    lastSeq: row.last_seq,
    deferrals: ToolDeferrals.parse(row.deferrals, sessionName(row)),
    clientSystem: store.text("client_system"),
    instructions: parseInstructions(store.text("instructions")),
    partial: (seq: number) => partialOf(store, seq),
    newest: {
      turn: row.turn,
      userSeq: row.user_seq,
      refusedFrom: row.status === "refused" ? row.refused_from : null,
      status: row.status === "running" ? "dead" : row.status,
    },
  } as const;
  const plan = request.goOn ? planGoingOn(found, now) : planTurn(found, request, now);
  if (plan === null) return null;
  const turn = plan.resumed ? row.turn : request.turn;
  const rev = row.rev + 1;
  const lastSeq = row.last_seq + plan.append.length;
  history.add(rowsFrom(row.last_seq + 1, plan.append));
  const cuts = newCuts(history, lastSeq);
  store.transaction(() => {
    store.addEntries(rev, row.last_seq + 1, plan.append);
    store.addBlobs(rev, request.blobs);
    if (plan.reset) store.addEnding(rev, "rewind");
    if (!plan.resumed) noteLeft(store, rev, row, now);
    if (request.task !== undefined) noteMessage(store, rev, request, turn, plan.userSeq, now);
    else if (plan.resumed) noteState(store, rev, turn, { state: "working", at: now });
    store.update({
      rev,
      last_seq: lastSeq,
      updated_at: now,
      sent_before: row.sent_through,
      wire: request.wire,
      wire_before: row.wire,
      sent_through: plan.sends ? lastSeq : row.sent_through,
      fence: row.fence + 1,
      status: "running",
      turn,
      user_seq: plan.userSeq,
      refused_from: 0,
      step: plan.resumed ? row.step : 0,
      // Going on after a pause is no further attempt: nothing had failed.
      attempts: plan.resumed && row.status === "running" ? row.attempts + 1 : 1,
      keep_ms: request.keepMs ?? null,
      lease_seconds: request.leaseSeconds,
      cancel: 0,
      attempt: request.turn,
      resumed: plan.resumed ? 1 : 0,
      last_append: "",
      ...(request.admitted ? { admitted: admittedWith(row, request.turn) } : {}),
      ...begun(request, now),
      ...(plan.resumed && row.asked !== "" ? { asked: row.asked } : {}),
      ...(cuts === null ? {} : { cuts }),
      ...(plan.mode === null ? {} : { mode: plan.mode }),
      ...(plan.reset ? { deferrals: null, deferrals_rev: rev } : {}),
    });
    keepKey(store, request, plan.resumed ? row.turn : request.turn, now);
  });
  return { history, reset: plan.reset };
}

/** Gives a turn that was given out to the isolate that came for it. */
export function goOn(store: Store, row: SessionRow, { attempt, wire }: ResumeRequest, { all }: History): void {
  const sends = openBatch(effectiveContext(all)) === null;
  store.update({
    fence: row.fence + 1,
    handed: 0,
    attempt,
    resumed: 1,
    sent_before: row.sent_through,
    sent_through: sends ? row.last_seq : row.sent_through,
    wire,
    wire_before: row.wire,
    last_append: "",
  });
}

/**
 * Ends the turn that runs or waits for an answer without an isolate, as one transaction: calls that have no result get
 * what was answered, or are closed as interrupted.
 */
export function closeTurn(
  store: Store,
  row: SessionRow,
  status: "failed" | "stopped",
  end: TurnEnd,
  now: number,
): void {
  const effective = effectiveContext(History.read(store, row).all);
  const { made } = closeBatch(effective, { partial: (seq) => partialOf(store, seq) }, now, true);
  const texts = made.map(encodeEntry);
  const rev = row.rev + 1;
  store.transaction(() => {
    store.addEntries(rev, row.last_seq + 1, texts);
    noteEnd(store, rev, row.turn, status, end, now);
    store.update({
      rev,
      last_seq: row.last_seq + texts.length,
      updated_at: now,
      fence: row.fence + 1,
      status,
      handed: 0,
      cancel: 0,
      ended: endText(end),
      last_append: "",
    });
  });
}

/** What the row says of the request that began the newest turn. */
function begun({ asked = "", once }: BeginRequest, now: number) {
  return { asked, body: once?.body ?? "", began_at: now, handed: 0, ended: "" };
}

function keepKey(store: Store, { once }: BeginRequest, turn: string, now: number): void {
  if (once == null || once.key === null) return;
  store.setKey(once.key, { body: once.body, turn, at: now }, now - KEY_MS);
}

/** A turn is left behind: one whose isolate died has failed, one that waits for an answer gets none any more. */
function noteLeft(store: Store, rev: number, { turn, status }: SessionRow, at: number): void {
  if (status === "running") noteState(store, rev, turn, { state: "failed", at, failure: "Its isolate was lost." });
  if (status === "paused") noteState(store, rev, turn, { state: "canceled", at });
}

/** A task's message is noted where its turn begins. */
function noteMessage(store: Store, rev: number, { task }: BeginRequest, turn: string, from: number, at: number): void {
  if (task !== undefined) store.addTaskNote(rev, turn, { state: "working", at, message: task, from });
}

/** A number far from any that an object of this name gave before its storage was lost. */
export function firstFence(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high & 0xffff) * 2 ** 32 + low + 1;
}

/** The title of a session's `n`th clone or fork, from 1. */
export function forkTitle(title: string, n: number): string {
  const mark = ` (fork ${n})`;
  return `${titled(title, TITLE_CHARS - mark.length)}${mark}`;
}

function titleOf(user: string): string {
  const entry = decodeEntry(user);
  if (entry.kind !== "user") throw new Error(`a turn begins with a user entry, not with one of kind ${entry.kind}`);
  return titled(normaliseText(contentText(entry.content)));
}

/** As much of a text as a title holds. */
export function titled(text: string, most = TITLE_CHARS): string {
  return Array.from(text).slice(0, most).join("").toWellFormed();
}

/** Reads back what a turn froze. */
function parseInstructions(text: string | null): FrozenInstructions | null {
  const value: FrozenInstructions | null = text === null ? null : JSON.parse(text);
  return value;
}
