-- Which workers run, and which of them look for work in this cell (docs/decisions/0053-workers-share-cells.md). A worker renews its row
-- every second by the clock of the database, so a row that is over belongs to a worker that died. Nothing depends on these rows but who asks
-- the database how often: a worker that takes work locks it, as before. A worker of the release before has no row and looks everywhere.
--
-- Unlogged: a renewal waits for no disk, and after a crash of the database the workers write their rows again. One row per worker.
create unlogged table worker_leases (
  worker_id uuid primary key,
  -- own: its share of the cells has this one. help: another worker asked for help. standby: nobody else serves the cell. off: others do.
  duty text not null check (duty in ('own', 'help', 'standby', 'off')),
  -- The worker has more to do in this cell than it can.
  needs_help boolean not null,
  expires_at timestamptz not null
) with (
  fillfactor = 50,
  -- Every renewal leaves a dead row, which the next one clears away by itself.
  autovacuum_vacuum_threshold = 5000,
  autovacuum_analyze_threshold = 100000
);
