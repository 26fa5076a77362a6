-- Which vectors were deleted from a large space, for processes that hold codes of them in memory (docs/decisions/0057-codes-of-faces.md). deleted is how many
-- vectors of the space were ever deleted, this transaction's included: face_spaces.last_seq - face_spaces.vectors. The row lock of the space makes
-- it rise without gaps, so a reader that knows an earlier value sees whether a row is missing and then compares all numbers. Small and
-- short-lived: purged after 15 minutes by the job purge-face-deletions, which walks the index on deleted_at.
create table face_deletions (
  tenant_id uuid not null,
  livemode boolean not null,
  version text not null,
  deleted bigint not null,
  seqs bigint[] not null,
  deleted_at timestamptz not null,
  primary key (tenant_id, livemode, version, deleted)
);
create index face_deletions_by_time on face_deletions (deleted_at);
