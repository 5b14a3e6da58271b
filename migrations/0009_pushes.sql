-- Where the news of a task go (A2A push notifications): the newest row of a task and an id counts, an empty text is one
-- that was deleted.
CREATE TABLE pushes (
  session TEXT, rev INTEGER, task TEXT, id TEXT, text TEXT NOT NULL,
  PRIMARY KEY (session, rev, task, id)
) WITHOUT ROWID;
