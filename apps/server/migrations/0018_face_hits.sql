-- How often predictions came near a person in ten minutes, over all keys of the tenant: each answer tells something of the enrolled vector,
-- so there is a budget for an hour and a day (docs/decisions/0025-scores-in-bands.md). Processes add to it five at a time. Deleted with
-- the person, else after 25 hours by the job purge-face-hits, which walks the index on slot.
create table face_hits (
  tenant_id uuid not null,
  livemode boolean not null,
  person_id uuid not null,
  slot timestamptz not null,
  hits integer not null check (hits > 0),
  primary key (tenant_id, livemode, person_id, slot)
);
create index face_hits_by_slot on face_hits (slot);
