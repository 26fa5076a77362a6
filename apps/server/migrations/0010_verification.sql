-- Keys of the tokens that browsers keep after an ENROLL (area D): the public half alone, so a copy of this table lets nobody
-- sign in. Read once in each sign-in that a browser makes a claim in. At most 20 rows per person: the table grows with enrolled
-- people. Rows go with their person, in the transaction that deletes the person, or when nobody has used them for 400 days (job
-- purge-local-keys, by the index on last_used_on).
--
-- The foreign key keeps a key from outliving its person. It does not cascade, so that a deletion which forgets keys fails loudly.
create table local_keys (
  tenant_id uuid not null,
  livemode boolean not null,
  -- RFC 7638: SHA-256 of the public key. A proof names its key by it.
  thumbprint bytea not null check (length(thumbprint) = 32),
  person_id uuid not null,
  -- x and y on P-256.
  public_key bytea not null check (length(public_key) = 64),
  -- To the day: more would be a diary of sign-ins that nothing needs.
  last_used_on date not null,
  primary key (tenant_id, livemode, thumbprint),
  foreign key (tenant_id, livemode, person_id) references face_persons (tenant_id, livemode, person_id)
);
create index local_keys_by_person on local_keys (tenant_id, livemode, person_id);
create index local_keys_by_use on local_keys (last_used_on);

-- Failed SIGN-IN and VERIFY sessions of the last quarter of an hour, by whom they count against: a person, a browser or a network,
-- each as a hash under a key of the tenant. Read by key at every consent. A row lives for minutes; the job purge-lockouts walks the
-- index on purge_at. Updated in place by each failure, hence the room.
create table sign_in_lockouts (
  tenant_id uuid not null,
  livemode boolean not null,
  subject bytea not null check (length(subject) = 32),
  failures integer not null,
  -- The first of them.
  since timestamptz not null,
  locked_until timestamptz,
  purge_at timestamptz not null,
  primary key (tenant_id, livemode, subject)
) with (fillfactor = 70);
create index sign_in_lockouts_due on sign_in_lockouts (purge_at);

-- People whom an ENROLL made, or was about to make, when its session ended otherwise: nobody was told of them, so they are deleted
-- again. Written in the transaction that ends the session; the API deletes at once, and the job unmake-persons what a process that
-- died has left, a minute later, when no enrolment can be under way any more. An ENROLL that ends well with such a person takes
-- the row away. A handful of rows at any time.
create table unmade_persons (
  tenant_id uuid not null,
  livemode boolean not null,
  person_id uuid not null,
  due_at timestamptz not null,
  primary key (tenant_id, livemode, person_id)
);
create index unmade_persons_due on unmade_persons (due_at);
