-- A session counts in its owner's sums from the flush on that measures it: an object that runs older code while a deploy
-- spreads records sessions without measuring them. Those that 0008 counted before they were measured count no more until
-- their next turn.
UPDATE owners SET sessions =
  (SELECT count(*) FROM sessions WHERE sessions.owner = owners.owner AND deleted_at IS NULL AND bytes > 0);
