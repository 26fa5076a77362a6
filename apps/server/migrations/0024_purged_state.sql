-- After its retention no session says how it ended: its row gets the state PURGED, its times the moment of its deletion, and due_at the value
-- 'infinity'. The purge writes that. This index finds the other rows whose retention has passed: those that the last release has
-- purged, or still purges beside this one (job mark-purged-sessions). A tombstone is not in it, so it is as large as what is retained.
-- The state is not part of it: it changes half a dozen times in a session's life, and would make every change slower.
create index sessions_not_purged on sessions (purge_at) where purge_at is not null and due_at < 'infinity';
