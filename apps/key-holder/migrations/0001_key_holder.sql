-- The key holder's own database (decision 0040). It knows tenants by realm and people by account; both are random or hashed texts
-- that mean nothing outside. No table of the server is here, and none of these is there.

-- The private keys of this service, each sealed by the master key: `seal` opens what devices send, `service` signs replies.
create table service_keys (
  name text primary key check (name in ('seal', 'service')),
  master_key_id text not null,
  sealed bytea not null,
  created_at timestamptz not null
);

-- One row per person, so that failures are carried over to a renewed token. Its lock is what makes a budget exact.
create table persons (
  realm text not null,
  account text not null,
  -- The day (UTC) of each failure of the last 30 days, at most 60. A failure is counted before the evaluation and taken back after
  -- an accept. Days and not times: more would be a diary that nothing needs.
  failed_on date[] not null,
  primary key (realm, account)
);

-- One row per token. A PENDING row is deleted after an hour unless the server confirms it.
create table key_shares (
  realm text not null,
  token_id text not null,
  account text not null,
  state text not null check (state in ('PENDING', 'ACTIVE')),
  model smallint not null,
  format smallint not null,
  -- The share, the token's hash and norm, and the device's public key. All of it is sealed, because a writer of the device key or of
  -- the hash could have probes and tokens of his own evaluated. Bound to realm, account, token_id, model and format.
  master_key_id text not null,
  sealed bytea not null,
  created_at timestamptz not null,
  -- What was counted before each evaluation.
  evaluations integer not null,
  evaluated_on date not null,
  evaluations_that_day integer not null,
  attack_events integer not null default 0,
  frozen_at timestamptz,
  primary key (realm, token_id)
);
-- Random bytes: an attempt to compress 158 KB of them would only cost time.
alter table key_shares alter column sealed set storage external;
create index key_shares_by_account on key_shares (realm, account);
create index key_shares_pending on key_shares (created_at) where state = 'PENDING';
create index key_shares_frozen on key_shares (frozen_at) where frozen_at is not null;

-- Issued and not used yet. Using one deletes it.
create table nonces (
  nonce text primary key,
  realm text not null,
  token_id text not null,
  expires_at timestamptz not null
);
create index nonces_by_expiry on nonces (expires_at);

-- Ids of accepted requests, until their time window has passed.
create table request_ids (
  request_id text primary key,
  expires_at timestamptz not null
);
create index request_ids_by_expiry on request_ids (expires_at);

-- So that a caller who lost a reply gets the same again, without a second evaluation.
create table verdicts (
  realm text not null,
  token_id text not null,
  nonce text not null,
  probe_hash text not null,
  account text not null,
  verdict text not null check (verdict in ('accept', 'reject', 'locked')),
  expires_at timestamptz not null,
  primary key (realm, token_id, nonce, probe_hash)
);
create index verdicts_by_expiry on verdicts (expires_at);
