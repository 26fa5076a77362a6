-- Failures that matter for security, counted over all processes: unknown keys, wrong client credentials, wrong handoff codes, faces that
-- match nobody (docs/decisions/0026-limits-across-processes.md). Written by failures only, never by a request that succeeds, and not by one
-- that is refused because the allowance is used up.
--
-- A row belongs to the tenant that the failure concerns and is in the tenant's cell. A wrong key belongs to no tenant yet: such rows have
-- the tenant 0 and are in the first cell. The subject (a network, a key, or the whole tenant) is a hash under a key derived from the master
-- key. A row says nothing from the time in paid_back_at on, minutes later; the job purge-failure-limits walks the index on it.
create table failure_limits (
  tenant_id uuid not null,
  limit_name text not null,
  subject bytea not null check (length(subject) = 32),
  -- When the subject has its whole allowance again.
  paid_back_at timestamptz not null,
  -- The same before the last failures were counted. The statement returns it, so that the process knows how many of them were within the
  -- allowance: before PostgreSQL 18 a statement cannot return old values.
  paid_back_before timestamptz not null,
  primary key (tenant_id, limit_name, subject)
);
create index failure_limits_due on failure_limits (paid_back_at);
