-- Key pairs (Ed25519) that sign webhooks beside the API key, for each tenant and mode that wants them: without a row there is no
-- such signature. kid is the thumbprint of the public half (RFC 7638). Only the private half is stored, sealed and bound to tenant,
-- mode and kid; the public half is computed from it, so that nobody without the master key can put a key of their own here. A key signs
-- until ends_at; then the worker erases its private half (job purge-webhooks) and the row stays as a record. Grows with customers.
create table webhook_keys (
  tenant_id uuid not null references tenants (tenant_id),
  livemode boolean not null,
  kid text not null,
  sealed_key bytea,
  master_key_id text,
  created_at timestamptz not null,
  ends_at timestamptz,
  primary key (tenant_id, livemode, kid),
  check ((sealed_key is null) = (master_key_id is null)),
  check (sealed_key is not null or ends_at is not null)
);
-- One key at a time has no end: a second `create` or `rotate` at the same moment fails.
create unique index webhook_keys_current on webhook_keys (tenant_id, livemode) where ends_at is null;
