-- API keys as the interface specification records them (id, api_key, customer_id, api_id, usage_plan_id, product_code,
-- status, when_created, last_updated). The key itself is never stored in clear: lookup_hash finds it, sealed_key holds
-- it for signing webhooks and for the encryption of area E. Grows with customers, not with traffic.
create table api_keys (
  tenant_id uuid not null references tenants (tenant_id),
  id uuid not null,
  lookup_hash bytea not null check (length(lookup_hash) = 32),
  sealed_key bytea not null,
  master_key_id text not null,
  last_four text not null,
  livemode boolean not null,
  name text not null,
  customer_id text,
  api_id text,
  usage_plan_id text,
  product_code text,
  scopes text[] not null,
  allowed_ips text[] not null default '{}',
  status text not null check (status in ('active', 'revoked')),
  when_created timestamptz not null,
  last_updated timestamptz not null,
  ends_at timestamptz,
  rotated_to uuid,
  primary key (tenant_id, id)
);
-- The hot query: which key is this. Also what makes api_key unique.
create unique index api_keys_by_lookup_hash on api_keys (lookup_hash);
-- Key ids arrive without a tenant (command line); re-sealing walks by master key.
create unique index api_keys_by_id on api_keys (id);
create index api_keys_by_master_key on api_keys (master_key_id, id);
