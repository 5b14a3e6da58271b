/**
 * The object's tables, as ordered steps: a step that was released is never changed, only followed by another. Every
 * table but `session` and `timers` only grows; `rev` is the session's revision that wrote a row, and what a flush copies is the rows
 * above the last one it copied. No secondary index: a row written is one row written. `docs/storage.md` says more.
 */
const STEPS: readonly (readonly string[])[] = [
  [
    `CREATE TABLE session (
       id INTEGER PRIMARY KEY CHECK (id = 1),
       owner TEXT NOT NULL, agent TEXT NOT NULL, conversation TEXT NOT NULL,
       title TEXT NOT NULL, mode TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
       generation TEXT NOT NULL, rev INTEGER NOT NULL, last_seq INTEGER NOT NULL, sent_through INTEGER NOT NULL,
       cuts TEXT NOT NULL,
       deferrals TEXT, deferrals_rev INTEGER NOT NULL,
       fence INTEGER NOT NULL, status TEXT NOT NULL, turn TEXT NOT NULL, user_seq INTEGER NOT NULL,
       refused_from INTEGER NOT NULL, step INTEGER NOT NULL, attempts INTEGER NOT NULL,
       lease_seconds REAL NOT NULL, cancel INTEGER NOT NULL,
       wire TEXT NOT NULL, attempt TEXT NOT NULL, sent_before INTEGER NOT NULL, wire_before TEXT NOT NULL,
       resumed INTEGER NOT NULL, last_append TEXT NOT NULL,
       flushed_rev INTEGER NOT NULL, flushed_seq INTEGER NOT NULL, deleted_at INTEGER
     )`,
    "CREATE TABLE timers (name TEXT PRIMARY KEY, due INTEGER NOT NULL, tries INTEGER NOT NULL) WITHOUT ROWID",
    `CREATE TABLE entries (
       seq INTEGER, part INTEGER, rev INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (seq, part)
     ) WITHOUT ROWID`,
    `CREATE TABLE epochs (
       rev INTEGER PRIMARY KEY, chain TEXT NOT NULL, epoch INTEGER NOT NULL, text TEXT NOT NULL
     )`,
    `CREATE TABLE frozen (
       hash TEXT, part INTEGER, rev INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (hash, part)
     ) WITHOUT ROWID`,
    `CREATE TABLE items (
       rev INTEGER, part INTEGER, chain TEXT NOT NULL, epoch INTEGER NOT NULL, text TEXT NOT NULL,
       PRIMARY KEY (rev, part)
     ) WITHOUT ROWID`,
    `CREATE TABLE calls (
       rev INTEGER PRIMARY KEY, chain TEXT NOT NULL, epoch INTEGER NOT NULL, text TEXT NOT NULL
     )`,
    `CREATE TABLE texts (
       name TEXT, rev INTEGER, part INTEGER, text TEXT NOT NULL, PRIMARY KEY (name, rev, part)
     ) WITHOUT ROWID`,
    "CREATE TABLE endings (rev INTEGER PRIMARY KEY, cause TEXT NOT NULL)",
    `CREATE TABLE blobs (
       hash TEXT, part INTEGER, rev INTEGER NOT NULL, media TEXT NOT NULL, text TEXT NOT NULL,
       PRIMARY KEY (hash, part)
     ) WITHOUT ROWID`,
  ],
  // Until here the record's own row went to D1 with the last of its rows.
  [
    "ALTER TABLE session ADD COLUMN recorded_rev INTEGER NOT NULL DEFAULT 0",
    "UPDATE session SET recorded_rev = flushed_rev",
    "ALTER TABLE session ADD COLUMN refused TEXT NOT NULL DEFAULT '[]'",
  ],
  [
    "ALTER TABLE session ADD COLUMN forks INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE session ADD COLUMN forked_from TEXT",
    "ALTER TABLE session ADD COLUMN forked_at INTEGER",
  ],
  [
    "ALTER TABLE session ADD COLUMN asked TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE session ADD COLUMN body TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE session ADD COLUMN began_at INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE session ADD COLUMN handed INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE session ADD COLUMN ended TEXT NOT NULL DEFAULT ''",
    "CREATE TABLE keys (key TEXT PRIMARY KEY, body TEXT NOT NULL, turn TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID",
  ],
  [
    `CREATE TABLE tasks (
       rev INTEGER, task TEXT, part INTEGER, state TEXT NOT NULL, at INTEGER NOT NULL, text TEXT NOT NULL,
       PRIMARY KEY (rev, task, part)
     ) WITHOUT ROWID`,
  ],
  ["ALTER TABLE session ADD COLUMN parent TEXT"],
  ["ALTER TABLE session ADD COLUMN admitted TEXT NOT NULL DEFAULT '[]'"],
  [
    `CREATE TABLE pushes (
       rev INTEGER, task TEXT, id TEXT, text TEXT NOT NULL, PRIMARY KEY (rev, task, id)
     ) WITHOUT ROWID`,
    `CREATE TABLE deliveries (
       task TEXT, id TEXT, rev INTEGER NOT NULL, tries INTEGER NOT NULL, due INTEGER NOT NULL, PRIMARY KEY (task, id)
     ) WITHOUT ROWID`,
  ],
  ["ALTER TABLE session ADD COLUMN keep_ms INTEGER"],
];

/** Whether this object ever stored anything. Writes nothing. */
export function hasSchema(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'schema_version'").toArray().length > 0;
}

/** Takes the steps that were not taken yet. Must run in a transaction. */
export function migrate(sql: SqlStorage): void {
  sql.exec("CREATE TABLE IF NOT EXISTS schema_version (step INTEGER PRIMARY KEY)");
  const { taken } = sql.exec<{ taken: number }>("SELECT count(*) AS taken FROM schema_version").one();
  for (const [index, statements] of STEPS.entries()) {
    if (index < taken) continue;
    for (const statement of statements) sql.exec(statement);
    sql.exec("INSERT INTO schema_version (step) VALUES (?)", index + 1);
  }
}
