-- What a tenant has set for itself (packages/contract/src/settings.ts). Holds only what was set: a tenant without a row has
-- the defaults, and so has every field that is not named. No secrets: identity providers are known by public keys alone.
-- At most one row per tenant, read by its key; grows with customers, not with traffic.
create table tenant_settings (
  tenant_id uuid primary key references tenants (tenant_id),
  settings jsonb not null check (jsonb_typeof(settings) = 'object'),
  updated_at timestamptz not null
);
