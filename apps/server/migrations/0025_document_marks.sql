-- Documents that were shown within a day, for tenants that look for repeated use (documentReuseCheck; docs/decisions/0036).
--
-- A mark is 64 bits of an HMAC that the user's device computes over the number of the document, under a key of the tenant, its mode and the
-- day. It is not anonymous: the service has the key and can test numbers. So it is deleted after 24 hours, by the job purge-document-marks,
-- which walks the index. The session is the first that showed the document: shown again there, it is no repeated use.
create table document_marks (
  tenant_id uuid not null,
  livemode boolean not null,
  mark bytea not null check (length(mark) = 8),
  session_id uuid not null,
  seen_at timestamptz not null,
  primary key (tenant_id, livemode, mark)
);
create index document_marks_due on document_marks (seen_at);
