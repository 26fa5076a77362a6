-- The table gets the name of what it holds: people whose enrolment is not final yet. A row without keep_until says "delete this
-- person when due_at has passed"; a row with keep_until says "the host knows this person, so no failed ENROLL may delete them".
alter table unmade_persons rename to provisional_persons;
alter index unmade_persons_pkey rename to provisional_persons_pkey;
alter index unmade_persons_due rename to provisional_persons_due;
-- The last release still uses the old name while it runs beside this one, and after a rollback: its statements read and write the
-- same rows through this view. It addresses rows by ctid, which a view does not have by itself. The next release drops the view.
create view unmade_persons as
  select ctid, tenant_id, livemode, person_id, due_at, keep_until from provisional_persons;
