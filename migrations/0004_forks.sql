-- Where a clone or a fork comes from: the conversation, and before which of its user messages (from 0; NULL for a clone).
-- NULL in both means that the session began by itself, or that the row is older than these columns.
ALTER TABLE sessions ADD COLUMN forked_from TEXT;
ALTER TABLE sessions ADD COLUMN forked_at INTEGER;
