-- What quotas are measured by: sums of an owner, kept by the flush of each of its sessions (session/owner-sums.ts), and
-- the turns that were let in (session/admission.ts). Sessions that were stored before count as sessions here; their
-- bytes are 0, which means not measured yet, until their next turn.
ALTER TABLE sessions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

CREATE TABLE owners (
  owner TEXT PRIMARY KEY, sessions INTEGER NOT NULL, bytes INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO owners (owner, sessions, bytes)
  SELECT owner, count(*), 0 FROM sessions WHERE deleted_at IS NULL AND rev > 0 GROUP BY owner;

CREATE TABLE admissions (
  owner TEXT, turn TEXT, session TEXT NOT NULL, until INTEGER NOT NULL,
  PRIMARY KEY (owner, turn)
) WITHOUT ROWID;
