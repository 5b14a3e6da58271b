import { sha256 } from "../prefix/digest.ts";
import type { TaskState } from "../values/task.ts";
import type { Cause } from "../values/turn-event.ts";
import type { Usage, UsageSum } from "../values/usage.ts";
import type { BlobRow, CallRecord, EntryRow } from "./contract.ts";
import type { ChainPart, Opening } from "./opening.ts";
import { join, pack, split, unpack } from "./parts.ts";
import type { Delivery, Push } from "./pushes.ts";
import { mustFitRow } from "./row-limit.ts";
import { hasSchema, migrate } from "./schema.ts";
import type { TaskNote } from "./tasks.ts";

/** The one row of table `session`. */
export type SessionRow = {
  owner: string;
  agent: string;
  conversation: string;
  title: string;
  mode: string;
  created_at: number;
  updated_at: number;
  /** Made when the object first gets storage, anew by a rebuild: D1 takes rows of the current one only. */
  generation: string;
  /** Rises with every write of content. */
  rev: number;
  last_seq: number;
  sent_through: number;
  /** JSON of the spans of entries that are not effective (`context/cuts.ts`), as of the newest rewind. */
  cuts: string;
  deferrals: string | null;
  /** The revision that last changed `deferrals`. */
  deferrals_rev: number;
  fence: number;
  /** How the newest turn stands. */
  status: "running" | "done" | "failed" | "refused" | "stopped" | "paused";
  turn: string;
  /** The user entry that the newest turn answers. */
  user_seq: number;
  /** Status `refused`: the entry from which on the provider refuses what is sent; else 0. */
  refused_from: number;
  step: number;
  attempts: number;
  lease_seconds: number;
  cancel: number;
  /** The turn id of the `begin` that holds the lease: that of the turn, unless it resumed an older one. */
  attempt: string;
  /** `sent_through` before that `begin`. */
  sent_before: number;
  /** The renderer of the turn that began last, and of the one before it. */
  wire: string;
  wire_before: string;
  resumed: number;
  /** The newest append under this fence, as `turn/step/kind`. */
  last_append: string;
  /** How many clones and forks were taken of it: their titles count on. */
  forks: number;
  /** The conversation it was cloned or forked from, and before which of its user messages; null for a clone. */
  forked_from: string | null;
  forked_at: number | null;
  /** Name of the session that it is a sub-session of; null for all others. */
  parent: string | null;
  /** How long it is kept while nobody uses it; null is for good. */
  keep_ms: number | null;
  /** All rows through this revision are in D1, and of entries through this number … */
  flushed_rev: number;
  flushed_seq: number;
  /** … and the record's own row there is of this revision. */
  recorded_rev: number;
  /** JSON of the rows that D1 refused (`flush.ts`). */
  refused: string;
  /** JSON of the ids of turns that were let in under quotas and whose end D1 does not know yet (`admission.ts`). */
  admitted: string;
  deleted_at: number | null;
  /** Who asked for the newest turn and how, as the isolate that began it wrote it. */
  asked: string;
  /** SHA-256 of what its client sent, and when; `""` where its surface can't be asked twice. */
  body: string;
  began_at: number;
  /** 1: the running turn was given out under this fence, and nobody has come for it yet. */
  handed: number;
  /** JSON of how the newest turn ended; `""` while it runs. */
  ended: string;
};

/** The request that an `Idempotency-Key` came with. */
export type KeyRow = { readonly body: string; readonly turn: string; readonly at: number };

/** An epoch, and the revision that opened it. */
export type EpochHead = { readonly rev: number; readonly epoch: number };

/** What texts are kept under. `partial`: results of a batch that was cut by a hand-over (JSON, with its answer's number). */
export type TextName = "instructions" | "client_system" | "partial";

/** Something to be done at `due` (milliseconds since the epoch), after so many tries that failed. */
export type Timer = {
  readonly name: "lease" | "outbox" | "burial" | "push" | "retention";
  readonly due: number;
  readonly tries: number;
};

/** A growing table: its columns, of which the first `key` are its primary key. */
export type CopiedTable = { readonly table: string; readonly columns: readonly string[]; readonly key: number };

/** A row's values in the order of its columns, and those of its key. */
export type Values = SqlStorageValue[];
export type Key = readonly SqlStorageValue[];

/** A model that failed so many calls ago is asked again, whatever its provider said. */
const RESTING_CALLS = 8;

/** The session's own SQLite: every read and write of it, and no decision. Stores nothing before {@link Store.create}. */
export class Store {
  readonly #storage: DurableObjectStorage;
  readonly #sql: SqlStorage;
  /** Null until this object looked. */
  #exists: boolean | null = null;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#sql = storage.sql;
  }

  /** Runs `write` as one transaction. */
  transaction<T>(write: () => T): T {
    return this.#storage.transactionSync(write);
  }

  /** Whether this object has any storage. */
  exists(): boolean {
    return this.#exists ?? hasSchema(this.#sql);
  }

  /** The session's row; null when there is no session. */
  session(): SessionRow | null {
    if (this.#exists === null) {
      this.#exists = hasSchema(this.#sql);
      if (this.#exists) this.transaction(() => migrate(this.#sql));
    }
    if (!this.#exists) return null;
    return this.#sql.exec<SessionRow>("SELECT * FROM session").toArray()[0] ?? null;
  }

  /** Makes the tables. The session exists once {@link create} has written its row. */
  prepare(): void {
    this.transaction(() => migrate(this.#sql));
    this.#exists = true;
  }

  create(row: SessionRow): void {
    mustFitRow("session", row);
    const columns = Object.keys(row);
    const marks = columns.map(() => "?").join(", ");
    this.#sql.exec(`INSERT INTO session (${columns.join(", ")}) VALUES (${marks})`, ...Object.values(row));
  }

  /** Writes the given columns of the session's row and no other. */
  update(patch: Partial<SessionRow>): void {
    mustFitRow("session", patch);
    const sets = Object.keys(patch).map((column) => `${column} = ?`);
    this.#sql.exec(`UPDATE session SET ${sets.join(", ")}`, ...Object.values(patch));
  }

  /** Bytes that the session takes here. */
  size(): number {
    return this.#sql.databaseSize;
  }

  /** What is to be done later, the earliest first. */
  timers(): Timer[] {
    return this.#sql.exec<Timer>("SELECT name, due, tries FROM timers ORDER BY due").toArray();
  }

  setTimer({ name, due, tries }: Timer): void {
    this.#sql.exec("INSERT OR REPLACE INTO timers (name, due, tries) VALUES (?, ?, ?)", name, due, tries);
  }

  dropTimer(name: Timer["name"]): void {
    this.#sql.exec("DELETE FROM timers WHERE name = ?", name);
  }

  key(key: string): KeyRow | null {
    return this.#sql.exec<KeyRow>("SELECT body, turn, at FROM keys WHERE key = ?", key).toArray()[0] ?? null;
  }

  /** Keeps what a key came with, instead of what it came with before; keys from before `oldest` are forgotten. */
  setKey(key: string, { body, turn, at }: KeyRow, oldest: number): void {
    this.#sql.exec("DELETE FROM keys WHERE at < ?", oldest);
    this.#sql.exec("INSERT OR REPLACE INTO keys (key, body, turn, at) VALUES (?, ?, ?, ?)", key, body, turn, at);
  }

  /** Deletes everything, the tables and the alarm included. */
  async clear(): Promise<void> {
    try {
      await this.#storage.deleteAlarm();
      await this.#storage.deleteAll();
    } finally {
      this.#exists = null;
    }
  }

  /** Appends entries from `firstSeq` on. */
  addEntries(rev: number, firstSeq: number, texts: readonly string[]): void {
    for (const [index, text] of texts.entries()) {
      for (const [part, piece] of split(text).entries()) {
        this.insert("entries", { seq: firstSeq + index, part, rev, text: piece });
      }
    }
  }

  /** Keeps blobs that are not there yet. */
  addBlobs(rev: number, blobs: readonly BlobRow[]): void {
    for (const { hash, media, base64 } of blobs) {
      if (this.#sql.exec("SELECT 1 FROM blobs WHERE hash = ? AND part = 0", hash).toArray().length > 0) continue;
      for (const [part, text] of split(base64).entries()) this.insert("blobs", { hash, part, rev, media, text });
    }
  }

  addEpoch(rev: number, chain: string, epoch: number, opening: Opening): void {
    this.insert("epochs", { rev, chain, epoch, text: JSON.stringify(opening) });
  }

  /** Keeps the bytes of lists of JSON texts, once. Answers the hash under which {@link frozen} finds them. */
  addFrozen(rev: number, lists: readonly (readonly string[])[]): string {
    const packed = pack(lists);
    const hash = sha256(packed);
    if (this.#sql.exec("SELECT 1 FROM frozen WHERE hash = ? AND part = 0", hash).toArray().length === 0) {
      for (const [part, text] of split(packed).entries()) this.insert("frozen", { hash, part, rev, text });
    }
    return hash;
  }

  addItems(rev: number, chain: string, epoch: number, lists: readonly (readonly string[])[]): void {
    for (const [part, text] of split(pack(lists)).entries()) this.insert("items", { rev, part, chain, epoch, text });
  }

  /** Keeps a model call. One that is no link of its chain stands under no chain's name, so that none is found to go on from it. */
  addCall(rev: number, call: CallRecord): void {
    const chain = call.purpose === undefined ? call.chain : "";
    this.insert("calls", { rev, chain, epoch: call.epoch, text: JSON.stringify(call) });
  }

  /** Keeps a text under a name; the newest counts. */
  addText(rev: number, name: TextName, text: string): void {
    for (const [part, piece] of split(JSON.stringify(text)).entries()) {
      this.insert("texts", { rev, name, part, text: piece });
    }
  }

  /** Notes something of a task: at most one note a revision. */
  addTaskNote(rev: number, task: string, { state, at, ...note }: TaskNote): void {
    for (const [part, text] of split(JSON.stringify(note)).entries()) {
      this.insert("tasks", { rev, task, part, state, at, text });
    }
  }

  /** Whether something is noted of a turn, so that it is a task. */
  isTask(turn: string): boolean {
    return this.#sql.exec("SELECT 1 FROM tasks WHERE task = ? LIMIT 1", turn).toArray().length > 0;
  }

  /** What is noted of a task, or of all of them, in order. */
  *taskNotes(turn: string | null): Generator<TaskNote & { readonly turn: string }> {
    const rows = this.#sql.exec<{ part: number; task: string; state: TaskState; at: number; text: string }>(
      "SELECT part, task, state, at, text FROM tasks WHERE ?1 IS NULL OR task = ?1 ORDER BY rev, task, part",
      turn,
    );
    for (const { task, state, at, text } of join(rows)) yield { turn: task, state, at, ...parseNote(text) };
  }

  /** Keeps where a task's news go; an empty text is one that was deleted. */
  addPush(rev: number, task: string, { id, text }: Push): void {
    this.insert("pushes", { rev, task, id, text });
  }

  /** Where a task's news go, by id. */
  pushes(task: string): Push[] {
    const query = "SELECT id, text, max(rev) FROM pushes WHERE task = ? GROUP BY id ORDER BY id";
    const rows = this.#sql.exec<{ id: string; text: string }>(query, task).toArray();
    return rows.flatMap(({ id, text }) => (text === "" ? [] : [{ id, text }]));
  }

  setDelivery({ task, id, rev, tries, due }: Delivery): void {
    const replace = "INSERT OR REPLACE INTO deliveries (task, id, rev, tries, due) VALUES (?, ?, ?, ?, ?)";
    this.#sql.exec(replace, task, id, rev, tries, due);
  }

  /** It was told, or is given up; news that came meanwhile are another delivery. */
  dropDelivery({ task, id, rev }: Delivery): void {
    this.#sql.exec("DELETE FROM deliveries WHERE task = ? AND id = ? AND rev = ?", task, id, rev);
  }

  /** News to be told, the earliest first. */
  deliveries(): Delivery[] {
    return this.#sql.exec<Delivery>("SELECT task, id, rev, tries, due FROM deliveries ORDER BY due").toArray();
  }

  /** Ends every epoch that is open. */
  addEnding(rev: number, cause: Cause): void {
    this.insert("endings", { rev, cause });
  }

  /** One row of one of the growing tables; a row that is there already stays as it is. */
  insert(table: string, row: Record<string, SqlStorageValue>): void {
    mustFitRow(table, row);
    const columns = Object.keys(row);
    const marks = columns.map(() => "?").join(", ");
    this.#sql.exec(
      `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks}) ON CONFLICT DO NOTHING`,
      ...Object.values(row),
    );
  }

  /** The entries after `after`, up to `last`, in order. */
  *entries(after: number, last = Number.MAX_SAFE_INTEGER): Generator<EntryRow> {
    const rows = this.#sql.exec<{ seq: number; part: number; text: string }>(
      "SELECT seq, part, text FROM entries WHERE seq > ? AND seq <= ? ORDER BY seq, part",
      after,
      last,
    );
    for (const { seq, text } of join(rows)) yield [seq, text];
  }

  blob(hash: string): BlobRow | null {
    const rows = this.#sql.exec<{ part: number; media: string; text: string }>(
      "SELECT part, media, text FROM blobs WHERE hash = ? ORDER BY part",
      hash,
    );
    for (const { media, text } of join(rows)) return { hash, media, base64: text };
    return null;
  }

  text(name: TextName): string | null {
    const rows = this.#sql.exec<{ part: number; text: string }>(
      `SELECT part, text FROM texts WHERE name = ?1 AND rev = (SELECT max(rev) FROM texts WHERE name = ?1)
       ORDER BY part`,
      name,
    );
    for (const { text } of join(rows)) return parseText(text);
    return null;
  }

  /** The newest epoch of a chain; null where there is none. */
  newestEpoch(chain: string): EpochHead | null {
    const query = "SELECT rev, epoch FROM epochs WHERE chain = ? ORDER BY rev DESC LIMIT 1";
    return this.#sql.exec<EpochHead>(query, chain).toArray()[0] ?? null;
  }

  /** The names of all chains. */
  chains(): string[] {
    const rows = this.#sql.exec<{ chain: string }>("SELECT DISTINCT chain FROM epochs").toArray();
    return rows.map(({ chain }) => chain);
  }

  opening(rev: number): Opening {
    const rows = this.#sql.exec<{ text: string }>("SELECT text FROM epochs WHERE rev = ?", rev).toArray();
    const [row] = rows;
    if (row === undefined) throw new Error(`no epoch was opened at revision ${rev}`);
    return parseOpening(row.text);
  }

  /** Reads back what {@link addFrozen} kept. */
  frozen(hash: string): string[][] {
    const rows = this.#sql.exec<{ part: number; text: string }>(
      "SELECT part, text FROM frozen WHERE hash = ? ORDER BY part",
      hash,
    );
    for (const { text } of join(rows)) return unpack(text);
    throw new Error(`no bytes are kept as ${hash}`);
  }

  /** What the requests of a part of a chain brought, one after the other, each with its revision. */
  *items(chain: string, { epoch, from, through }: ChainPart): Generator<{ rev: number; lists: string[][] }> {
    const rows = this.#sql.exec<{ rev: number; part: number; text: string }>(
      `SELECT rev, part, text FROM items WHERE rev BETWEEN ? AND ? AND chain = ? AND epoch = ? ORDER BY rev, part`,
      ...[from, through, chain, epoch],
    );
    for (const { rev, text } of join(rows)) yield { rev, lists: unpack(text) };
  }

  /** A chain's newest answered call, with its revision; null before there is one. */
  lastAnswered(chain: string): { readonly rev: number; readonly call: CallRecord } | null {
    const query = "SELECT rev, text FROM calls WHERE chain = ? AND text ->> '$.answered' ORDER BY rev DESC LIMIT 1";
    const [row] = this.#sql.exec<{ rev: number; text: string }>(query, chain).toArray();
    return row === undefined ? null : { rev: row.rev, call: parseCall(row.text) };
  }

  /** The newest answered call since all epochs were last ended, whatever its chain; null before there is one. */
  lastLink(): CallRecord | null {
    const query = `SELECT text FROM calls WHERE rev > (SELECT coalesce(max(rev), 0) FROM endings) AND chain <> ''
      AND text ->> '$.answered' ORDER BY rev DESC LIMIT 1`;
    const [row] = this.#sql.exec<{ text: string }>(query).toArray();
    return row === undefined ? null : parseCall(row.text);
  }

  /** The newest answered call of a part of a chain; null before there is one. */
  lastCall(chain: string, { epoch, from, through }: ChainPart): CallRecord | null {
    const query = `SELECT text FROM calls WHERE rev BETWEEN ? AND ? AND chain = ? AND epoch = ?
      AND text ->> '$.answered' ORDER BY rev DESC LIMIT 1`;
    const [row] = this.#sql.exec<{ text: string }>(query, from, through, chain, epoch).toArray();
    return row === undefined ? null : parseCall(row.text);
  }

  /** The answered calls of a part of a chain that had at most so many items, in order. */
  answeredWithin(chain: string, { epoch, from, through }: ChainPart, items: number): CallRecord[] {
    const query = `SELECT text FROM calls WHERE rev BETWEEN ? AND ? AND chain = ? AND epoch = ?
      AND text ->> '$.answered' AND text ->> '$.items' <= ? ORDER BY rev`;
    const rows = this.#sql.exec<{ text: string }>(query, from, through, chain, epoch, items);
    return rows.toArray().map(({ text }) => parseCall(text));
  }

  /** The end marker of the newest answered call of a part of a chain that had it below `items`; null where none had. */
  lastEnd(chain: string, { epoch, from, through }: ChainPart, items: number): number | null {
    const query = `SELECT text ->> '$.end' AS end FROM calls WHERE rev BETWEEN ? AND ? AND chain = ? AND epoch = ?
      AND text ->> '$.answered' AND text ->> '$.end' < ? ORDER BY rev DESC LIMIT 1`;
    return this.#sql.exec<{ end: number }>(query, from, through, chain, epoch, items).toArray()[0]?.end ?? null;
  }

  /** Model calls of this session after revision `after`, with their revisions. */
  *calls(after: number): Generator<{ readonly rev: number; readonly call: CallRecord }> {
    const rows = this.#sql.exec<{ rev: number; text: string }>(
      "SELECT rev, text FROM calls WHERE rev > ? AND text ->> '$.copied' IS NULL ORDER BY rev",
      after,
    );
    for (const { rev, text } of rows) yield { rev, call: parseCall(text) };
  }

  /** What this session's model calls came to, or those of one turn. */
  usage(turn: string | null = null): UsageSum {
    const sum = (field: keyof Usage) => `coalesce(sum(text ->> '$.usage.${field}'), 0) AS ${field}`;
    const fields = (["input", "cacheRead", "cacheWrite", "output"] as const).map(sum).join(", ");
    const query = `SELECT ${fields}, count(*) AS calls FROM calls
      WHERE text ->> '$.copied' IS NULL AND (?1 IS NULL OR text ->> '$.turn' = ?1)`;
    return this.#sql.exec<{ [F in keyof UsageSum]: number }>(query, turn).one();
  }

  /** Models that the newest calls were asked to leave alone, and until when. */
  resting(): { model: string; until: number }[] {
    const query = `SELECT text ->> '$.model' AS model, text ->> '$.retryAt' AS until
      FROM (SELECT text FROM calls ORDER BY rev DESC LIMIT ${RESTING_CALLS}) WHERE text ->> '$.retryAt' IS NOT NULL`;
    return this.#sql.exec<{ model: string; until: number }>(query).toArray();
  }

  /** Why an epoch that was opened at `rev` is over; null while it goes on. */
  endedBy(rev: number): Cause | null {
    const rows = this.#sql.exec<{ cause: Cause }>("SELECT cause FROM endings WHERE rev > ? ORDER BY rev LIMIT 1", rev);
    return rows.toArray()[0]?.cause ?? null;
  }

  /**
   * Rows of one growing table in the order of its key, which is its first `key` columns: those of the revisions above
   * `above` through `through` behind the row with the key `after`. As many as take `chars` characters, one at least.
   */
  page(
    { table, columns, key }: CopiedTable,
    above: number,
    through: number,
    after: Key | null,
    chars: number,
  ): Values[] {
    const names = columns.slice(0, key).join(", ");
    const behind = after === null ? "" : `AND (${names}) > (${after.map(() => "?").join(", ")})`;
    const query = `SELECT ${columns.join(", ")} FROM ${table} WHERE rev > ? AND rev <= ? ${behind} ORDER BY ${names}`;
    const page: Values[] = [];
    let room = chars;
    for (const values of this.#sql.exec(query, above, through, ...(after ?? [])).raw()) {
      room -= values.reduce((sum: number, value) => sum + (typeof value === "string" ? value.length : 8), 0);
      if (room < 0 && page.length > 0) break;
      page.push(values);
    }
    return page;
  }

  /** The row of a growing table with that key. */
  rowAt({ table, columns, key }: CopiedTable, at: Key): Values | null {
    const where = columns.slice(0, key).map((column) => `${column} = ?`);
    const query = `SELECT ${columns.join(", ")} FROM ${table} WHERE ${where.join(" AND ")}`;
    return [...this.#sql.exec(query, ...at).raw()][0] ?? null;
  }
}

// What is parsed below was written by this module, as the type it is read as.

function parseText(text: string): string {
  const value: string = JSON.parse(text);
  return value;
}

function parseOpening(text: string): Opening {
  const value: Opening = JSON.parse(text);
  return value;
}

function parseNote(text: string): Omit<TaskNote, "state" | "at"> {
  const value: Omit<TaskNote, "state" | "at"> = JSON.parse(text);
  return value;
}

function parseCall(text: string): CallRecord {
  const value: CallRecord = JSON.parse(text);
  return value;
}
