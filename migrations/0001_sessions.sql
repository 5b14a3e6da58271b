-- The record: a copy of all that a session's next request needs. Written by session/record.ts under a guard.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  conversation TEXT NOT NULL,
  title TEXT NOT NULL,
  mode TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  generation TEXT NOT NULL,
  rev INTEGER NOT NULL,
  state TEXT NOT NULL,
  deleted_at INTEGER
);
CREATE INDEX sessions_by_owner ON sessions (owner, agent, updated_at);

CREATE TABLE entries (
  session TEXT, seq INTEGER, part INTEGER, rev INTEGER NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (session, seq, part)
) WITHOUT ROWID;

CREATE TABLE epochs (
  session TEXT, rev INTEGER, chain TEXT NOT NULL, epoch INTEGER NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (session, rev)
) WITHOUT ROWID;

CREATE TABLE frozen (
  session TEXT, hash TEXT, part INTEGER, rev INTEGER NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (session, hash, part)
) WITHOUT ROWID;

CREATE TABLE items (
  session TEXT, rev INTEGER, part INTEGER, chain TEXT NOT NULL, epoch INTEGER NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (session, rev, part)
) WITHOUT ROWID;

CREATE TABLE calls (
  session TEXT, rev INTEGER, chain TEXT NOT NULL, epoch INTEGER NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (session, rev)
) WITHOUT ROWID;

CREATE TABLE texts (
  session TEXT, name TEXT, rev INTEGER, part INTEGER, text TEXT NOT NULL,
  PRIMARY KEY (session, name, rev, part)
) WITHOUT ROWID;

CREATE TABLE endings (
  session TEXT, rev INTEGER, cause TEXT NOT NULL,
  PRIMARY KEY (session, rev)
) WITHOUT ROWID;

CREATE TABLE blobs (
  session TEXT, hash TEXT, part INTEGER, rev INTEGER NOT NULL, media TEXT NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (session, hash, part)
) WITHOUT ROWID;

-- By which a request without a conversation id finds its session.
CREATE TABLE transcripts (
  owner TEXT, agent TEXT, conversation TEXT, hash TEXT NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (owner, agent, conversation)
) WITHOUT ROWID;
CREATE INDEX transcripts_by_hash ON transcripts (owner, agent, hash);
