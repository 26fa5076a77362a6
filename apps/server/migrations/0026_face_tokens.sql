-- The matcher's half of the homomorphic token (docs/token.md, docs/decisions/0039 and 0040). No row of the last release changes, and the
-- last release reads none of these tables.
--
-- A token is found by its id, which the device that holds its key names. `sealed` has the public key, the matcher's share of the key and
-- the secret of the tests; `sealed_token` has the token, and is null where only the user's browser keeps it. Both are sealed by the master
-- key and bound to tenant, mode, account, token, model, format and device key. A pending token belongs to an open ENROLL and becomes active in the
-- transaction that creates the person; the job purge-tokens deletes pending ones after an hour, by the index on created_at.
create table face_tokens (
  tenant_id uuid not null,
  livemode boolean not null,
  token_id bytea not null check (length(token_id) = 16),
  account bytea not null check (length(account) = 16),
  -- Null while the token is pending. The seal is made with the secret in `sealed`: who writes another person here cannot make it.
  person_id uuid,
  person_seal bytea,
  session_id uuid not null,
  model smallint not null,
  format smallint not null,
  token_hash bytea not null check (length(token_hash) = 32),
  -- The two coordinates of a point on P-256.
  device_key bytea not null check (length(device_key) = 64),
  sealed bytea not null,
  sealed_token bytea,
  master_key_id text not null,
  created_at timestamptz not null,
  -- What was evaluated, accepted or not: in all, and on `day`.
  evaluations integer not null default 0,
  day date,
  day_evaluations integer not null default 0,
  attack_events integer not null default 0,
  primary key (tenant_id, livemode, token_id),
  check ((person_id is null) = (person_seal is null)),
  foreign key (tenant_id, livemode, person_id) references face_persons (tenant_id, livemode, person_id)
) with (fillfactor = 80);
create index face_tokens_by_person on face_tokens (tenant_id, livemode, person_id) where person_id is not null;
create index face_tokens_pending on face_tokens (created_at) where person_id is null;

-- Failed comparisons of a person, over all their tokens. The job purge-tokens deletes rows of more than 31 days.
create table token_failures (
  tenant_id uuid not null,
  livemode boolean not null,
  account bytea not null check (length(account) = 16),
  day date not null,
  failures integer not null,
  primary key (tenant_id, livemode, account, day)
) with (fillfactor = 80);
create index token_failures_due on token_failures (day);

-- Probes: the bytes until the comparison, an hour at most; the hash for two days, so that no probe is evaluated twice.
create table token_probes (
  tenant_id uuid not null,
  livemode boolean not null,
  probe_hash bytea not null check (length(probe_hash) = 32),
  session_id uuid not null,
  token_id bytea not null,
  -- Probe, message to the key holder and the token that the device brought, sealed; null after the comparison.
  sealed bytea,
  master_key_id text not null,
  -- Null before the comparison; 'begun' while it runs.
  verdict text,
  created_at timestamptz not null,
  primary key (tenant_id, livemode, probe_hash)
);
create index token_probes_due on token_probes (created_at);

-- What the key holder still has to delete. A row is written in the transaction that deletes the matcher's half, and deleted when the key
-- holder has answered.
create table key_holder_erasures (
  tenant_id uuid not null,
  erasure_id uuid not null,
  livemode boolean not null,
  token_id bytea not null check (length(token_id) = 16),
  -- Of a deleted person: everything of the account goes. Null for a single token.
  account bytea check (length(account) = 16),
  attempts integer not null default 0,
  due_at timestamptz not null,
  created_at timestamptz not null,
  primary key (tenant_id, erasure_id)
);
create index key_holder_erasures_due on key_holder_erasures (due_at);
