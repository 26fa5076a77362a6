-- A document is asked for in doubt only where the tenant or the session says so (C-025, docs/decisions/0061). Tenants that are here now keep
-- what they have: `documentInDoubt` stays on for them until they change it, and new ones start with it off. It stands in a column of its own,
-- because processes of the last release refuse to change settings that hold a name they do not know. They go on as they did: they ask in
-- doubt for every tenant, and a change of settings by one of them keeps the column.
alter table tenant_settings add column kept jsonb not null default '{}' check (jsonb_typeof(kept) = 'object');
insert into tenant_settings (tenant_id, settings, updated_at) select tenant_id, '{}', now() from tenants
  -- Not callers without a key: they have no age sessions, and the row is there before the first upgrade.
  where tenant_id <> '00000000-0000-7000-8000-000000000000' on conflict do nothing;
update tenant_settings set kept = '{"documentInDoubt": true}';
