-- Webhooks of areas C and D: what is to be sent, what is not settled yet, what was tried, and which receivers are in trouble.
-- docs/privacy.md says for each column what it is for and how it is protected.

-- One row per message, written in the transaction that changed the session, and never changed: delivery works on the two
-- tables below, so this one has no dead rows until the purge. sealed holds URL, headers and the exact bytes of the body.
-- created_at is the time inside delivery_id, so whoever holds an id knows the partition. A partition is a day; the default
-- catches what comes before the worker made the day's. Rows go at purge_at by the job purge-webhooks, a partition when it
-- is empty by the job arrange-webhook-partitions.
create table webhook_deliveries (
  tenant_id uuid not null,
  delivery_id uuid not null,
  created_at timestamptz not null,
  livemode boolean not null,
  area text not null check (area in ('C', 'D')),
  event text not null,
  -- The session. Its own room holds it; no reference, because a partition of theirs may go first.
  subject_id uuid not null,
  sequence integer not null,
  -- The API key that created the session: its text signs.
  key_id uuid not null,
  endpoint_id uuid not null,
  -- Scheme, host and port of the URL: what the host may see again. Path and query may hold secrets and are sealed.
  origin text not null,
  sealed bytea not null,
  master_key_id text not null,
  purge_at timestamptz not null,
  primary key (tenant_id, delivery_id, created_at)
) partition by range (created_at);
-- Encrypted bytes do not shrink: no time is spent on trying.
alter table webhook_deliveries alter column sealed set storage external;
create index webhook_deliveries_by_subject on webhook_deliveries (tenant_id, subject_id);
create index webhook_deliveries_by_purge on webhook_deliveries (purge_at);
create table webhook_deliveries_default partition of webhook_deliveries default;

-- What is not delivered: pending, or dead (dead_at set). A row goes when its message is delivered or purged, so the table is
-- as large as the trouble. next_attempt_at is also the lease: a worker that takes a row moves it ahead, and one that dies
-- gives it back by the passing of time. attempts counts all tries; tries those of the present schedule (a replay starts
-- it again). fail_next is the sandbox's.
create table webhook_queue (
  tenant_id uuid not null,
  delivery_id uuid not null,
  created_at timestamptz not null,
  livemode boolean not null,
  endpoint_id uuid not null,
  next_attempt_at timestamptz not null,
  attempts integer not null default 0,
  tries integer not null default 0,
  fail_next integer not null default 0,
  dead_at timestamptz,
  dead_reason text check (dead_reason in ('exhausted', 'gone', 'forbidden', 'retention', 'key_removed')),
  primary key (tenant_id, delivery_id),
  check ((dead_at is null) = (dead_reason is null))
) with (
  fillfactor = 80,
  -- Every delivery leaves two dead rows here. The default would wait for a fifth of a backlog.
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.2,
  autovacuum_analyze_threshold = 5000
);
-- The hot query: for each receiver in turn, what is due.
create index webhook_queue_due on webhook_queue (endpoint_id, next_attempt_at) where dead_at is null;

-- One row per try. Holds nothing that the receiver sent but its status. created_at is the delivery's, so that both go together.
create table webhook_attempts (
  tenant_id uuid not null,
  delivery_id uuid not null,
  created_at timestamptz not null,
  attempt integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  outcome text not null,
  status smallint,
  -- When the next one was planned for; null after the last.
  next_attempt_at timestamptz,
  primary key (tenant_id, delivery_id, attempt, created_at)
) partition by range (created_at);
create table webhook_attempts_default partition of webhook_attempts default;

-- Receivers in trouble; no row means a healthy one. endpoint_id is a hash of tenant, mode and origin, so one tenant's
-- trouble is never another's. opened_times is 0 while failures are only counted; from 1 on the receiver's deliveries are
-- parked, and after open_until one of them may try again.
create table webhook_endpoints (
  endpoint_id uuid primary key,
  tenant_id uuid not null,
  livemode boolean not null,
  failures integer not null,
  opened_times integer not null,
  open_until timestamptz not null,
  updated_at timestamptz not null
) with (fillfactor = 50);
create index webhook_endpoints_open on webhook_endpoints (open_until) where opened_times > 0;
