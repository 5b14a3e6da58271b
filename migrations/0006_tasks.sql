-- What is noted of tasks (A2A): one row for each message and each change of state, the newest is how a task stands. Rows
-- older than this table are of sessions that had no tasks.
CREATE TABLE tasks (
  session TEXT, rev INTEGER, task TEXT, part INTEGER, state TEXT NOT NULL, at INTEGER NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (session, rev, task, part)
) WITHOUT ROWID;
