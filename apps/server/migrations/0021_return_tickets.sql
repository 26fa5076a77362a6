-- Which devices learn where to continue when a session has ended, and the one-time code of the end: sealed with the key of the session, and
-- deleted with the rest of its secrets. Null until the session ends, for sessions that no device has opened, and for those that the
-- last release has ended.
alter table session_secrets add column return_ticket bytea;
