-- Area E, the biometric node. Live and test data of a tenant are apart, so livemode follows tenant_id in every key.
-- docs/privacy.md says for each column what it is for and how it is protected; docs/scaling.md has the arithmetic.

-- The people among whom a face is searched: one group per tenant and mode. sealed_key is the tenant's key of area E, sealed
-- by the master key: it wraps the persons' keys and is the secret behind the rotation. Grows with customers.
create table face_groups (
  tenant_id uuid not null references tenants (tenant_id),
  livemode boolean not null,
  guid uuid not null,
  sealed_key bytea not null,
  master_key_id text not null,
  created_at timestamptz not null,
  primary key (tenant_id, livemode)
);
create index face_groups_by_master_key on face_groups (master_key_id);

-- One row per group and model version. Its row lock is what makes enrolments of one space take turns, so two enrolments of
-- one face at the same moment make one person. last_seq numbers the vectors; shelf says where they are. Updated by
-- every enrolment, hence the room for updates in place.
create table face_spaces (
  tenant_id uuid not null,
  livemode boolean not null,
  version text not null,
  shelf integer not null,
  last_seq bigint not null default 0,
  vectors bigint not null default 0,
  primary key (tenant_id, livemode, version)
) with (fillfactor = 50);
create index face_spaces_by_shelf on face_spaces (shelf);

-- Enrolled people. wrapped_key is the person's own key: without it the person's templates are noise. Deleted with the person.
create table face_persons (
  tenant_id uuid not null,
  livemode boolean not null,
  person_id uuid not null,
  wrapped_key bytea not null,
  external_ref bytea,
  created_at timestamptz not null,
  primary key (tenant_id, livemode, person_id)
);
create unique index face_persons_by_external_ref on face_persons (tenant_id, livemode, external_ref)
  where external_ref is not null;

-- The authoritative copy of each vector, sealed with the person's key. Read only to rebuild the search copy. Spread over
-- partitions so that a vacuum after a deletion has a sixteenth of the table to walk.
create table face_templates (
  tenant_id uuid not null,
  livemode boolean not null,
  version text not null,
  seq bigint not null,
  person_id uuid not null,
  enroll_level smallint not null,
  sealed_vector bytea not null,
  primary key (tenant_id, livemode, version, seq)
) partition by hash (tenant_id, seq);
create index face_templates_by_person on face_templates (tenant_id, livemode, person_id);

-- The search copy, rotated by a secret of the group. A shelf is a partition. Small spaces share the shelves 0 to 15, where
-- a search compares with every vector of the space, found by the primary key. A large space gets a shelf of its own
-- (1000 and up) with an HNSW index, made by the worker. So no index ever holds the vectors of two tenants, and no tenant
-- filter can hide a neighbour.
create table face_vectors (
  shelf integer not null,
  tenant_id uuid not null,
  livemode boolean not null,
  version text not null,
  seq bigint not null,
  person_id uuid not null,
  enroll_level smallint not null,
  embedding halfvec(512) not null,
  primary key (tenant_id, livemode, version, seq, shelf)
) partition by list (shelf);
create sequence face_shelf_numbers start 1000;

do $$
begin
  for n in 0..15 loop
    execute format('create table face_templates_%s partition of face_templates for values with (modulus 16, remainder %s)', n, n);
    execute format('create table face_vectors_%s partition of face_vectors for values in (%s)', n, n);
  end loop;
end $$;

-- Tables from which a person was deleted and which still have to be vacuumed. deleted_by is the transaction: the remains
-- can go when nobody can see what was there before it. At most one row per table.
create table face_vacuums_due (
  table_name text primary key,
  deleted_by xid not null,
  since timestamptz not null
);

-- Envelopes that were used, so that none is taken twice. Purged when an envelope of that age is refused anyway, by the
-- job purge-used-envelopes, which walks the index on expires_at.
create table used_envelopes (
  tenant_id uuid not null,
  envelope_hash bytea not null check (length(envelope_hash) = 32),
  expires_at timestamptz not null,
  primary key (tenant_id, envelope_hash)
);
create index used_envelopes_by_expiry on used_envelopes (expires_at);
