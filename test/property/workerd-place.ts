import { type StoredMessage, storedMessages } from "../../src/context/align-history.ts";
import { userMessages } from "../../src/context/branch.ts";
import { callsOf, toldEntries, uncompacted } from "../../src/context/effective.ts";
import type { CallRecord, EntryRow, SessionSummary } from "../../src/session/contract.ts";
import { decodeEntry, type Numbered } from "../../src/values/entry.ts";
import type { Cause } from "../../src/values/turn-event.ts";
import { type Accepted, Checker } from "./checker.ts";
import { canary } from "./tools.ts";

/** A session as its object has it, which no API shows whole. */
export interface Look {
  readonly status: SessionSummary["status"] | null;
  readonly entries: readonly EntryRow[];
  readonly calls: readonly CallRecord[];
  /** How often its turn went to another isolate in this process. */
  readonly resumed: number;
  /** Why chains are over, by their keys; null where they go on. */
  readonly ended: Readonly<Record<string, Cause | null>>;
}

/** A request that the model got. */
export interface Made extends Omit<Accepted, "copied"> {
  readonly kind: "request";
  readonly model: string;
  readonly bodyText: string;
  /** All that can be read from the cache once it is answered. */
  readonly cached: number;
  /** It asks for a summary; `again` where no call is allowed any more. */
  readonly aside: "first" | "again" | null;
  /** Its isolate died before the session heard of its answer, so that the ledger has it not. */
  readonly lost: boolean;
  /** It was answered to the end, so that its usage is known. */
  readonly whole: boolean;
}

type Step = Made | { readonly kind: "act"; act(): void };

/** A message as a chat client has it. */
export interface Said {
  readonly role: string;
  readonly content: string;
}

/** A session of a history: what its client has of it, and what is checked of it each time it is looked at. */
export class Place {
  readonly id: string;
  /** Names that something loaded. */
  readonly loaded: Set<string>;
  checker = new Checker();
  said: Said[] = [];
  status: Look["status"] = null;
  #entries: readonly Numbered[] = [];
  #texts: readonly string[] = [];
  #calls: readonly string[] = [];
  #steps: Step[] = [];
  #resumed = 0;
  /** Texts of results that every request must carry. */
  #expected = new Set<string>();

  constructor(id: string, of?: Place) {
    this.id = id;
    this.loaded = new Set(of?.loaded);
  }

  /** What users said that no rewind took back. */
  get messages(): number {
    return userMessages(toldEntries(this.#entries)).length;
  }

  get entries(): readonly Numbered[] {
    return this.#entries;
  }

  /** The conversation as a client reads it from the session. */
  get shown(): Said[] {
    return storedMessages(uncompacted(this.#entries)).map(({ role, text }: StoredMessage) => ({ role, content: text }));
  }

  made(request: Made): void {
    this.#steps.push(request);
  }

  /** Another process runs. */
  revive(): void {
    this.#resumed = 0;
  }

  /** How often its turn went to another isolate since it was last looked at. */
  resumedSince({ resumed }: Look): number {
    const since = resumed - this.#resumed;
    this.#resumed = resumed;
    return since;
  }

  /** Happens in the order of the requests, once the ledger says what they were. At once where none is waiting. */
  after(act: () => void): void {
    if (this.#steps.length === 0) act();
    else this.#steps.push({ kind: "act", act });
  }

  /** What is there when the session is made. */
  begins(look: Look): void {
    this.#know(look);
  }

  /**
   * Looks at the session while nothing happens in it: nothing that was there is missing, the ledger has each request and no
   * other, each request was what the checker demands, and each call of a turn that is over has one result. Throws what is
   * not so. `stalled`: an isolate lost its lease while it lived, so what the model told it may be in no ledger.
   */
  settle(look: Look, agent: string, stalled = false): void {
    const known = this.#texts.length;
    mustBeThere("an entry", this.#texts, look.entries.map(textOf));
    mustBeThere("a row of the ledger", this.#calls, look.calls.map(jsonOf));
    const rows = look.calls.slice(this.#calls.length);
    this.#know(look);
    for (const [index, { entry }] of this.#entries.entries()) {
      if (index < known || entry.kind !== "rewind") continue;
      const told = userMessages(toldEntries(this.#entries.slice(0, index)));
      this.checker.rewound(told.filter(({ seq }) => seq < entry.to).length);
      this.checker.allow("rewind");
      this.#expected.clear();
    }
    const ledger = {
      answers: rows.filter(({ purpose }) => purpose === undefined),
      summaries: rows.filter(({ purpose }) => purpose === "summary"),
    };
    for (const step of this.#steps.splice(0)) {
      if (step.kind === "act") step.act();
      else {
        const known = ledger[step.aside === null ? "answers" : "summaries"];
        const lost = step.lost || (stalled && (known[0] === undefined || whyNot(step, known[0], agent) !== null));
        this.#check(step, agent, lost ? null : known.shift());
      }
    }
    const [left] = [...ledger.answers, ...ledger.summaries];
    if (left !== undefined) throw new Error(`the ledger has a request that was not made: ${JSON.stringify(left)}`);
    if (look.status !== "running") oneResultEach(this.#entries);
    this.#expected = resultsOf(this.#entries, look.status);
  }

  /** What was compacted may be part of the summary now, and the next requests begin anew. */
  compacted(): void {
    this.checker.allow("compaction");
    this.#expected.clear();
  }

  #know({ entries, calls, status }: Look): void {
    this.#entries = entries.map(([seq, text]) => ({ seq, entry: decodeEntry(text) }));
    this.#texts = entries.map(textOf);
    this.#calls = calls.map(jsonOf);
    this.status = status;
  }

  #check(made: Made, agent: string, row: CallRecord | null | undefined): void {
    const { model, aside, bodyText, cached } = made;
    if (row === undefined) throw new Error(`the ledger lacks a request to ${model}`);
    if (row !== null) {
      const why = whyNot(made, row, agent);
      if (why !== null) throw new Error(why);
      if (row.verdict.prefix === "break" && row.verdict.cause === "unexpected") {
        throw new Error(`the ledger calls it unexpected, at ${row.place}`);
      }
    }
    const accepted = { ...made, copied: { cached, message: this.messages - 1 } };
    if (aside !== null) {
      this.checker.checkAside(model, accepted, aside === "again");
      return;
    }
    const missing = [...this.#expected].filter((said) => !bodyText.includes(said));
    if (missing.length > 0) throw new Error(`what a tool said is missing: ${missing.join(", ")}`);
    this.checker.check(model, accepted, row?.verdict ?? null);
  }
}

/** Why a row of the ledger is not that of a request, or null. */
function whyNot({ model, bodyText, whole, readTokens }: Made, row: CallRecord, agent: string): string | null {
  const said = [row.model, row.bytes, ...(whole ? [row.usage.cacheRead] : [])].join(", ");
  const really = [`${agent}-${model}`, Buffer.byteLength(bodyText), ...(whole ? [readTokens] : [])].join(", ");
  return said === really ? null : `the ledger says ${said} of a request that was ${really}`;
}

function textOf([, text]: EntryRow): string {
  return text;
}

function jsonOf(call: CallRecord): string {
  return JSON.stringify(call);
}

function mustBeThere(what: string, before: readonly string[], now: readonly string[]): void {
  const lost = before.findIndex((text, index) => text !== now[index]);
  if (lost >= 0) throw new Error(`${what} that was there is lost: ${before[lost]}`);
}

function oneResultEach(entries: readonly Numbered[]): void {
  const calls: string[] = [];
  const results: string[] = [];
  for (const { entry } of entries) {
    if (entry.kind === "assistant") calls.push(...callsOf(entry).map(({ id }) => id));
    if (entry.kind === "results") results.push(...entry.results.map(({ call }) => call));
  }
  if (calls.sort().join() !== results.sort().join()) {
    throw new Error(`calls ${calls.join()} have the results ${results.join()}`);
  }
}

/** What tools said since the session was last compacted or rewound, but for what the provider refused. */
function resultsOf(entries: readonly Numbered[], status: Look["status"]): Set<string> {
  const newest = entries.at(-1)?.entry.turn;
  const said = new Set<string>();
  for (const { entry } of entries) {
    if (entry.kind === "rewind" || entry.kind === "compaction") said.clear();
    if (entry.kind !== "results" || (status === "refused" && entry.turn === newest)) continue;
    for (const { call, content } of entry.results) {
      if (JSON.stringify(content).includes(canary(call))) said.add(canary(call));
    }
  }
  return said;
}
