import { admittedTurns } from "./admission.ts";
import { insertsOf, REFUSED_AT_MOST, type RowName, type Rows, takeApart } from "./insert-rows.ts";
import { sessionName } from "./name.ts";
import { COPIED, copyToRecord, recordRefused, refusedRows, type Unflushed } from "./record.ts";
import type { CopiedTable, Key, SessionRow, Store, Values } from "./store.ts";

/** A statement takes at most 1 MB of rows; rows of one statement are read together. */
const STATEMENT_BYTES = 1_000_000;

/** So many revisions are copied before the next are, so that a copy that breaks off keeps what it did. */
const REVISIONS = 200;

/** D1 takes 1,000 statements an invocation. What is left after so many is for the next. */
const MOST_STATEMENTS = 500;

/**
 * Copies to D1 all that `wanted` asks for, which may rise meanwhile. After an outage that is a stretch of revisions
 * after the other, each in batches, so that it holds a few megabytes whatever has piled up. Rows that D1 refuses hold
 * nothing else up: they are left out, reported, and tried again by each later flush. Throws when D1 fails, when it
 * refuses rows, and when more is left than one invocation may send: whoever calls tries again later.
 */
export async function flush(
  db: D1Database,
  store: Store,
  wanted: () => number,
  report: (message: string, error: unknown) => void,
): Promise<void> {
  let statements = 0;
  for (;;) {
    const row = store.session();
    if (row === null || row.deleted_at !== null) return;
    if (row.recorded_rev >= wanted()) return retryRefused(db, store, row);
    if (statements > MOST_STATEMENTS)
      throw new Error(`revisions behind ${row.flushed_rev} are left for the next flush`);
    const part = unflushed(store, row);
    const copied = await copyToRecord(db, part);
    statements += copied.statements;
    if (store.session()?.generation !== row.generation) return;
    if (!copied.ours) report("D1 has the session under another generation", null);
    if (copied.refused.length > 0) report("D1 refuses rows", new Error(namesOf(copied.refused)));
    const through = copied.ours ? part.through : row.rev;
    store.update({
      flushed_rev: through,
      flushed_seq: part.lastSeq(),
      ...(through === row.rev ? { flushed_seq: row.last_seq, recorded_rev: row.rev } : {}),
      ...(through === row.rev && row.status !== "running" ? { admitted: leftOf(store.session(), row) } : {}),
      ...(copied.refused.length === 0 ? {} : { refused: JSON.stringify([...refusedRows(row), ...copied.refused]) }),
    });
  }
}

/** Turns that were let in since `copied` was read. */
function leftOf(row: SessionRow | null, copied: SessionRow): string {
  const over = admittedTurns(copied);
  return JSON.stringify(row === null ? [] : admittedTurns(row).filter((turn) => !over.includes(turn)));
}

/** The oldest revisions that are not in D1, read while they are copied: rows never change once they are written. */
export function unflushed(store: Store, row: SessionRow): Unflushed & { readonly lastSeq: () => number } {
  const through = Math.min(row.rev, row.flushed_rev + REVISIONS);
  let lastSeq = row.flushed_seq;
  function* rows(): Generator<Rows> {
    for (const of of COPIED) {
      // Entries are many and in order, so that they are found by their key; the others by their revision.
      let after: Key | null = of.table === "entries" ? [row.flushed_seq, Number.MAX_SAFE_INTEGER] : null;
      for (;;) {
        const page = store.page(of, row.flushed_rev, through, after, STATEMENT_BYTES);
        const newest = page.at(-1);
        if (newest === undefined) break;
        after = newest.slice(0, of.key);
        if (of.table === "entries") lastSeq = Number(newest[0]);
        yield* statements(of, page);
      }
    }
  }
  const calls = {
    *[Symbol.iterator]() {
      for (const one of store.calls(row.recorded_rev)) if (one.rev <= row.rev) yield one;
    },
  };
  return { row, through, rows: rows(), calls, bytes: store.size(), lastSeq: () => lastSeq };
}

/** Rows in as many lists as they need statements. */
function* statements(of: CopiedTable, page: readonly Values[]): Generator<Rows> {
  const encoder = new TextEncoder();
  let open: { key: Key; json: string }[] = [];
  let bytes = 0;
  for (const values of page) {
    const json = JSON.stringify(values);
    const length = encoder.encode(json).byteLength + 1;
    if (bytes + length > STATEMENT_BYTES && open.length > 0) {
      yield { of, rows: open, bytes };
      open = [];
      bytes = 0;
    }
    open.push({ key: values.slice(0, of.key), json });
    bytes += length;
  }
  if (open.length > 0) yield { of, rows: open, bytes };
}

/** Tries again what D1 refused. Throws while it refuses something. */
async function retryRefused(db: D1Database, store: Store, row: SessionRow): Promise<void> {
  const before = refusedRows(row);
  if (before.length === 0) return;
  const guard = { session: sessionName(row), generation: row.generation };
  const rows = before.flatMap(([table, ...key]) => {
    const of = COPIED.find((copied) => copied.table === table);
    const values = of === undefined ? null : store.rowAt(of, key);
    return of === undefined || values === null ? [] : [...statements(of, [values])];
  });
  const error = new Error(`D1 refuses rows: ${namesOf(before)}`);
  const after = await db.batch(insertsOf(db, guard, rows)).then(
    () => [],
    () => takeApart(db, guard, rows, REFUSED_AT_MOST, error),
  );
  if (after.length < before.length) {
    await recordRefused(db, row, after);
    if (store.session()?.generation !== row.generation) return;
    store.update({ refused: JSON.stringify(after) });
  }
  if (after.length > 0) throw new Error(`D1 refuses rows: ${namesOf(after)}`);
}

/** Tables and keys only: what a row holds goes into no log. */
function namesOf(rows: readonly RowName[]): string {
  return rows.map((row) => row.join(" ")).join(", ");
}
