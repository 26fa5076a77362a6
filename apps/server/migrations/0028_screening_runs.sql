-- Runs of area B, for tenants that keep them (setting screeningRunDays, 0 unless set; docs/decisions/0043-runs-are-hashes.md). A run is one file, sent in
-- one part or several; only a complete one can be compared. Rows are small and few: at most 2,000 for each tenant and mode, read by the
-- primary key, whose run_id begins with the time. The job purge-screening-runs deletes by the setting as it is when the job runs.
create table screening_runs (
  tenant_id uuid not null,
  livemode boolean not null,
  run_id uuid not null,
  dataset text not null,
  series text,
  -- Set by the first part; all others must have the same.
  list_version text,
  scorer_version text,
  threshold double precision,
  -- The rows of each part, by its number: a part that is sent twice counts once, and a missing one is null.
  part_rows integer[] not null default '{}',
  hits integer not null default 0,
  started_at timestamptz not null,
  completed_at timestamptz,
  primary key (tenant_id, livemode, run_id)
);

-- What matched in a run. row_key and entity_key are 128 bits of an HMAC under a key of the tenant and its mode, facts are 64 bits of one over what makes
-- a hit the same: no names, dates or ids. The hot query joins two runs in the order of the primary key. At most 200,000 rows a run, usually
-- some hundred. Should the table reach a hundred million rows, partition it by the hash of tenant_id: no statement goes across tenants but
-- the purge, which takes one tenant at a time.
create table screening_hits (
  tenant_id uuid not null,
  livemode boolean not null,
  run_id uuid not null,
  row_key bytea not null check (length(row_key) = 16),
  entity_key bytea not null check (length(entity_key) = 16),
  part integer not null,
  -- In ten-thousandths.
  score smallint not null check (score between 0 and 10000),
  facts bytea not null check (length(facts) = 8),
  primary key (tenant_id, livemode, run_id, row_key, entity_key),
  foreign key (tenant_id, livemode, run_id) references screening_runs on delete cascade
);
