-- Which resource a create call with an Idempotency-Key made. Hashes only. Purged 24 hours after creation by the job
-- purge-idempotency-keys, which walks the index on expires_at.
create table idempotency_keys (
  tenant_id uuid not null,
  key_hash bytea not null check (length(key_hash) = 32),
  fingerprint bytea not null check (length(fingerprint) = 32),
  resource_id uuid not null,
  replays integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (tenant_id, key_hash)
);
create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
