-- The body of a webhook that may be delivered once: it carries pictures, which nobody may read again. It lies in the queue and not
-- with the message, because a row of the queue goes in the statement that writes the success down, and so it goes too, without one more
-- write. Purging and erasing take it the same way; the death of a delivery empties it. A replay puts a row without it back.
-- Most rows have none, and one that has keeps it out of line: moving the lease does not copy it.
alter table webhook_queue
  add column once_sealed bytea,
  add column once_master_key_id text,
  add constraint webhook_queue_once_whole check ((once_sealed is null) = (once_master_key_id is null)),
  add constraint webhook_queue_once_pending check (dead_at is null or once_sealed is null);
-- Encrypted bytes do not shrink: no time is spent on trying.
alter table webhook_queue alter column once_sealed set storage external;
-- What is deleted lies in the file until the vacuum: after some five pictures, and not after a fifth of the table.
alter table webhook_queue set (
  toast.autovacuum_vacuum_scale_factor = 0,
  toast.autovacuum_vacuum_threshold = 500,
  toast.autovacuum_vacuum_cost_delay = 0
);
