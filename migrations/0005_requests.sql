-- First requests of conversations that their client did not name, so that an SDK's repeat of one finds its session.
CREATE TABLE requests (
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  body TEXT NOT NULL,
  conversation TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (owner, agent, body)
) WITHOUT ROWID;
CREATE INDEX requests_at ON requests (at);
