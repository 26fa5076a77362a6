-- Area B: "our person is not this listed entry". Test and live data of a tenant are apart, so livemode is part of the key;
-- the list (newest first, by id) uses the primary key. person_digest stands for name and birth date, which are not stored
-- (sanctions/exceptions.ts). Grows with reviews by people. A row has no effect after expires_at and is kept a year longer,
-- so that an auditor can see why a past check showed no match; then the job purge-old-exceptions removes it.
create table sanction_exceptions (
  tenant_id uuid not null,
  livemode boolean not null,
  id uuid not null,
  -- Compared, never sorted for people. The limit is what an index entry can hold.
  record_id text collate "C" not null check (octet_length(record_id) between 1 and 2000),
  entity_id text not null,
  person_digest bytea not null check (length(person_digest) = 32),
  reason text not null,
  -- Id of the API key. No reference: keys of the past stay named.
  created_by uuid not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (tenant_id, livemode, id)
);
-- The hot query: the exceptions of the up to 50,000 row ids of one file.
create index sanction_exceptions_by_record on sanction_exceptions (tenant_id, livemode, record_id);
create index sanction_exceptions_by_expiry on sanction_exceptions (expires_at);
