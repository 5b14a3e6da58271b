-- Tokens that an owner's model calls of one UTC day came to. A session adds its own with the flush that first copies
-- them (session/usage.ts). Calls that were made before this table are not in it.
CREATE TABLE usage (
  owner TEXT, day TEXT, input INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
  output INTEGER NOT NULL, calls INTEGER NOT NULL,
  PRIMARY KEY (owner, day)
) WITHOUT ROWID;
