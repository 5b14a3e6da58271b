import { type StoredMessage, storedMessages } from "../../src/context/align-history.ts";
import { userMessages } from "../../src/context/branch.ts";
import { toldEntries, uncompacted } from "../../src/context/effective.ts";
import type { CallRecord, EntryRow, SessionSummary } from "../../src/session/contract.ts";
import { decodeEntry, type Numbered, type RewindEntry } from "../../src/values/entry.ts";
import type { Cause } from "../../src/values/turn-event.ts";
import { Checker } from "./checker.ts";
import { beginsAnew, chainOf } from "./mode-rules.ts";
import { checkAnswers, type Expected, oneResultEach, resultsOf } from "./workerd-entries.ts";
import type { Made } from "./workerd-made.ts";
import { type Base, checkModes, modeBefore } from "./workerd-modes.ts";

/** A session as its object has it, which no API shows whole. */
export interface Look {
  readonly status: SessionSummary["status"] | null;
  readonly mode: string;
  readonly entries: readonly EntryRow[];
  readonly calls: readonly CallRecord[];
  /** How often its turn went to another isolate in this process. */
  readonly resumed: number;
  /** Why chains are over, by their keys; null where they go on. */
  readonly ended: Readonly<Record<string, Cause | null>>;
}

interface Rewind {
  readonly index: number;
  readonly entry: RewindEntry;
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
  /** Names that something loaded, or that a mode of it made core. */
  readonly loaded: Set<string>;
  checker = new Checker();
  said: Said[] = [];
  status: Look["status"] = null;
  mode = "agent";
  /** Modes that its owner put it into since it was last looked at, each another than the one before. */
  patched: string[] = [];
  /** What its owner answered, by the pause's id. */
  readonly answers: Map<string, Expected>;
  /** The last answer, where its turn may not have gone on with it. */
  posted: { readonly pause: string; readonly answer: object } | null;
  /** How often its turn was handed to a runner since it was last looked at. */
  handed = 0;
  /** Its next request records a baseline. */
  #fresh = true;
  #base: Base = { mode: "agent", from: 0 };
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
    this.answers = new Map(of?.answers);
    this.posted = of?.posted ?? null;
  }

  /** The pauses that its owner did not answer yet. */
  get open(): string[] {
    const waiting = this.#entries.findLast(({ entry }) => entry.kind === "pause")?.entry;
    if (this.status !== "paused" || waiting?.kind !== "pause") return [];
    return waiting.pauses.map(({ id }) => id).filter((id) => !this.answers.has(id));
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

  /** Nothing waits to be looked at. */
  get settled(): boolean {
    return this.#steps.length === 0;
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
    this.handed = 0;
    this.#resumed = resumed;
    return since;
  }

  /** Happens in the order of the requests, once the ledger says what they were. At once where none is waiting. */
  after(act: () => void): void {
    if (this.#steps.length === 0) act();
    else this.#steps.push({ kind: "act", act });
  }

  /** What is there when the session is made, as a copy. */
  begins(look: Look): void {
    this.#know(look);
    this.#base = { mode: look.mode, from: look.entries.length };
    this.#fresh = Object.values(look.ended).includes("fork_reset");
  }

  /** Its owner put it into that mode. */
  patch(mode: string): void {
    if (mode !== (this.patched.at(-1) ?? this.mode)) this.patched.push(mode);
    // What a mode makes core needs no search there.
    if (mode === "careful") this.loaded.add("lazy_0");
  }

  /**
   * Looks at the session while nothing happens in it: nothing that was there is missing, its modes changed where they had
   * to, what was answered is, the ledger has each request and no other, each request was what the checker demands, and each
   * call of a turn that is over has one result. Throws what is not so. `stalled`: an isolate lost its lease while it lived,
   * so what the model told it may be in no ledger. Answers what came up.
   */
  settle(look: Look, agent: string, stalled = false): string[] {
    const known = this.#texts.length;
    mustBeThere("an entry", this.#texts, look.entries.map(textOf));
    mustBeThere("a row of the ledger", this.#calls, look.calls.map(jsonOf));
    const rows = look.calls.slice(this.#calls.length);
    this.#know(look);
    const seen = checkModes(this.#entries, known, this.#base, this.patched.splice(0));
    const mode = modeBefore(this.#entries, this.#base, this.#entries.length);
    if (mode !== look.mode) throw new Error(`the session is in the mode ${look.mode}, its entries say ${mode}`);
    seen.push(...checkAnswers(this.#entries, known, this.answers));
    const rewinds = this.#entries.flatMap(({ entry }, index) =>
      index >= known && entry.kind === "rewind" ? [{ index, entry }] : [],
    );
    const ledger = {
      answers: rows.filter(({ purpose }) => purpose === undefined),
      summaries: rows.filter(({ purpose }) => purpose === "summary"),
    };
    for (const step of this.#steps.splice(0)) {
      if (step.kind === "act") step.act();
      else {
        const known = ledger[step.aside === null ? "answers" : "summaries"];
        const lost = step.lost || (stalled && (known[0] === undefined || whyNot(step, known[0], agent) !== null));
        const row = lost ? null : known.shift();
        // One that died before it goes on as if nothing had been taken back.
        while (rewinds[0] !== undefined && this.#isBehind(row, rewinds[0])) this.#rewind(rewinds.shift());
        this.#check(step, agent, row);
      }
    }
    for (const rewind of rewinds) this.#rewind(rewind);
    const [left] = [...ledger.answers, ...ledger.summaries];
    if (left !== undefined) throw new Error(`the ledger has a request that was not made: ${JSON.stringify(left)}`);
    if (look.status !== "running") oneResultEach(this.#entries, look.status);
    this.#expected = resultsOf(this.#entries, look.status);
    return seen;
  }

  /** What was compacted may be part of the summary now, and the next requests begin anew. */
  compacted(): void {
    this.checker.allow("compaction");
    this.#fresh = true;
    this.#expected.clear();
  }

  #know({ entries, calls, status, mode }: Look): void {
    this.#entries = entries.map(([seq, text]) => ({ seq, entry: decodeEntry(text) }));
    this.#texts = entries.map(textOf);
    this.#calls = calls.map(jsonOf);
    this.status = status;
    this.mode = mode;
  }

  /** Whether a request was made when something had been taken back: the turn that did so made it, or a later one. */
  #isBehind(row: CallRecord | null | undefined, { index, entry: { turn } }: Rewind): boolean {
    if (!row || row.turn === turn) return true;
    const first = this.#entries.findIndex(({ entry }) => entry.turn === row.turn);
    return first < 0 || first > index;
  }

  #rewind(rewind: Rewind | undefined): void {
    if (rewind === undefined) return;
    const { to, why } = rewind.entry;
    const told = userMessages(toldEntries(this.#entries.slice(0, rewind.index)));
    const left = told.filter(({ seq }) => seq < to).length;
    // An answer that is made anew is taken back, its message is not.
    const answer = why === "regenerate" && !told.some(({ seq }) => seq === to);
    this.checker.rewound(answer ? Math.max(0, left - 1) : left);
    this.checker.allow("rewind");
    this.#expected.clear();
  }

  #check(made: Made, agent: string, row: CallRecord | null | undefined): void {
    const { model, aside, bodyText, cached } = made;
    if (row === undefined) throw new Error(`the ledger lacks a request to ${model}`);
    const mode = row === null ? this.mode : this.#modeOf(row);
    const chain = chainOf(model, mode);
    if (row !== null) {
      const why = whyNot(made, row, agent);
      if (why !== null) throw new Error(why);
      if (row.chain !== `${agent}-${chain}`) throw new Error(`in the mode ${mode} the ledger has it in ${row.chain}`);
      if (row.verdict.prefix === "break" && row.verdict.cause === "unexpected") {
        throw new Error(`the ledger calls it unexpected, at ${row.place}`);
      }
    }
    const verdict = row?.verdict ?? null;
    const problems = made.problemsIn(mode, aside === null && this.#fresh && beginsAnew(verdict));
    const accepted = { ...made, problems, copied: { cached, message: this.messages - 1 } };
    if (aside !== null) {
      this.checker.checkAside(chain, accepted, aside === "again");
      return;
    }
    if (row !== null) this.#fresh = false;
    const missing = [...this.#expected].filter((said) => !bodyText.includes(said));
    if (missing.length > 0) throw new Error(`what a tool said is missing: ${missing.join(", ")}`);
    this.checker.check(chain, accepted, verdict);
  }

  /** The mode that a request of the ledger was made in: its answer is the `step`th of its turn, if it got one. */
  #modeOf({ turn, step }: CallRecord): string {
    // A copy counts its own answers alone.
    const own = this.#entries.flatMap(({ entry }, index) =>
      entry.turn === turn && index >= this.#base.from ? [index] : [],
    );
    const answer = own.filter((index) => this.#entries[index]?.entry.kind === "assistant")[step - 1];
    return modeBefore(this.#entries, this.#base, answer ?? (own.at(-1) ?? this.#entries.length) + 1);
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
