-- Client credentials of area D: who calls, beside the API key, which says who pays. A client shows itself by a secret, of
-- which only a hash is stored, or by a signature that one of its public keys checks. Grows with customers, not with
-- traffic; revoked clients stay as a record.
create table api_clients (
  tenant_id uuid not null references tenants (tenant_id),
  client_id text not null,
  livemode boolean not null,
  name text not null,
  secret_hash bytea check (length(secret_hash) = 32),
  -- JWKs, public parts only.
  public_keys jsonb not null check (jsonb_typeof(public_keys) = 'array'),
  status text not null check (status in ('active', 'revoked')),
  created_at timestamptz not null,
  primary key (tenant_id, client_id),
  check (secret_hash is not null or jsonb_array_length(public_keys) > 0)
);
-- The hot query: credentials arrive without a tenant.
create unique index api_clients_by_id on api_clients (client_id);

-- Signed assertions that were used, so that none is used twice. A row lives for minutes, until the assertion itself has run
-- out; the worker deletes it then (job purge-used-assertions).
create table used_assertions (
  tenant_id uuid not null,
  assertion_hash bytea not null check (length(assertion_hash) = 32),
  expires_at timestamptz not null,
  primary key (tenant_id, assertion_hash)
);
create index used_assertions_by_expiry on used_assertions (expires_at);
