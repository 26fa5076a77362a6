-- Records of area A. Test and live data of a tenant are apart, so livemode is part of the key; get and list (newest
-- first, by id) both use the primary key. Kept until deleted; records with ttlSeconds are purged by the job
-- purge-expired-strings.
create table strings (
  tenant_id uuid not null,
  livemode boolean not null,
  id uuid not null,
  value text not null,
  -- json, not jsonb: metadata is returned as it was given, and never queried.
  metadata json,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (tenant_id, livemode, id)
);
create index strings_by_expiry on strings (expires_at) where expires_at is not null;
