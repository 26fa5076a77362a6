-- Age sessions that nobody opened, without a callback and without an event stream, can end in one statement for many of them
-- (docs/decisions/0054). Their result is not stored: it is made when it is read.
--
-- The retention in seconds, where the end of the session is reported to nobody. Set at the creation. Null in rows of the last release, and
-- of its processes beside this one: those end as before.
alter table sessions add column silent_retention_seconds integer;
-- The rule by which the result of an ended session is made; null when the result is stored.
alter table sessions add column result_rule smallint;
