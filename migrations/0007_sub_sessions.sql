-- Name of the session that this one is a sub-session of. NULL: it is none, or the row is older than this column.
ALTER TABLE sessions ADD COLUMN parent TEXT;
