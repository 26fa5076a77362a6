-- Sessions of areas C and D. `sessions` is the narrow, clear row that states move through: ids, state and times, nothing
-- about a person. `session_secrets` holds everything else, sealed with a key of the session, which the vault seals; its
-- row is deleted when the retention has passed, and what stays of the session is its tombstone.
--
-- Both are partitioned by the day of creation; a session's id carries the hour, so a look-up reads one partition. The
-- worker makes partitions ahead (job prepare-partitions) and drops those that are over. The default partition takes what
-- comes when nobody made one: nothing is refused for want of a partition.
create table sessions (
  tenant_id uuid not null,
  created_at timestamptz not null,
  session_id uuid not null,
  livemode boolean not null,
  area "char" not null,
  key_id uuid not null,
  state text not null,
  token_hash bytea not null check (length(token_hash) = 32),
  expires_at timestamptz not null,
  -- When the sweeper ends it: expires_at, or a little later while a step is under way.
  due_at timestamptz not null,
  ended_at timestamptz,
  purge_at timestamptz,
  -- Keyed hashes of metadata values, for the list.
  metadata_tags bigint[],
  -- Leads with the tenant, and is the index of the list.
  primary key (tenant_id, livemode, area, created_at, session_id)
) partition by range (created_at);
-- The launch page knows nothing but the id. Every change of a session goes by it too.
create unique index sessions_by_id on sessions (session_id, created_at);
create index sessions_due on sessions (due_at) where ended_at is null;
create index sessions_by_metadata on sessions using gin (metadata_tags) where metadata_tags is not null;
create table sessions_default partition of sessions default;

create table session_secrets (
  tenant_id uuid not null,
  created_at timestamptz not null,
  session_id uuid not null,
  sealed_key bytea not null,
  master_key_id text not null,
  request bytea not null,
  progress bytea,
  result bytea,
  -- Set when the session ends.
  purge_at timestamptz,
  primary key (tenant_id, created_at, session_id)
) partition by range (created_at);
create index session_secrets_due on session_secrets (purge_at) where purge_at is not null;
create table session_secrets_default partition of session_secrets default;

-- The key of a tenant's metadata tags. One row per tenant.
create table session_tag_keys (
  tenant_id uuid primary key,
  sealed_key bytea not null,
  master_key_id text not null
);
