-- Passkeys of enrolled people (area D): the public half of what an authenticator made for a person. Nothing here lets anybody
-- sign in; decision 0019 says what a stolen copy tells. At most 20 rows per person, so the table grows with enrolled people and not
-- with traffic. Rows have no age at which they are purged: they go with their person, in the transaction that deletes the person.
--
-- The foreign key is what keeps a passkey from outliving its person: whoever registers one while the person is being deleted
-- waits and is then refused. It does not cascade, so that a deletion which forgets passkeys fails loudly.
create table passkeys (
  tenant_id uuid not null,
  livemode boolean not null,
  person_id uuid not null,
  -- SHA-256 of the id: ids have up to 1,023 bytes, too many for an index.
  credential_hash bytea not null check (length(credential_hash) = 32),
  credential_id bytea not null,
  -- As COSE_Key.
  public_key bytea not null,
  -- Names the person to the authenticator; random, known nowhere else.
  user_handle bytea not null,
  counter bigint not null,
  transports text[] not null,
  -- May be copied to other devices. An authenticator never changes its mind about it.
  backup_eligible boolean not null,
  backed_up boolean not null,
  created_at timestamptz not null,
  -- To the day: more would be a diary of sign-ins that nothing needs.
  last_used_on date,
  -- SHA-256 of the challenge that was answered last, so that no answer counts twice.
  answered bytea check (length(answered) = 32),
  -- Its counter went back once: there may be two of it.
  suspended_at timestamptz,
  -- Leads with the person: all passkeys of one person are what a sign-in reads.
  primary key (tenant_id, livemode, person_id, credential_hash),
  foreign key (tenant_id, livemode, person_id) references face_persons (tenant_id, livemode, person_id)
) with (fillfactor = 80);
-- A credential belongs to one person.
create unique index passkeys_by_credential on passkeys (tenant_id, livemode, credential_hash);
