-- The event stream (docs/decisions/0042): the messages of test sessions, and of live ones where the operator allows it (EVENTS_LIVE), for
-- readers that open a connection instead of receiving webhooks. A row is written in the transaction that ends the session, and goes with
-- the session's result (job purge-webhooks). sealed holds the exact bytes of the body, without pictures. The last release reads none of this.
create table stream_events (
  tenant_id uuid not null,
  -- The id of the delivery, where there is one.
  event_id uuid not null,
  livemode boolean not null,
  created_at timestamptz not null,
  area text not null check (area in ('C', 'D')),
  event text not null,
  subject_id uuid not null,
  sequence integer not null,
  key_id uuid not null,
  sealed bytea not null,
  master_key_id text not null,
  purge_at timestamptz not null,
  -- The place in the stream. A reader gives it to committed rows, never the writer: so a transaction that commits late gets a later place
  -- and no cursor has passed it.
  position bigint,
  primary key (tenant_id, event_id)
) with (fillfactor = 90);
alter table stream_events alter column sealed set storage external;
create unique index stream_events_placed on stream_events (tenant_id, livemode, position) where position is not null;
create index stream_events_unplaced on stream_events (tenant_id, livemode) where position is null;
create index stream_events_by_subject on stream_events (tenant_id, subject_id);
create index stream_events_by_purge on stream_events (purge_at);

-- The last place that was given in each stream, and the last one whose event was purged. Its row is the lock of those who give places.
create table stream_positions (
  tenant_id uuid not null,
  livemode boolean not null,
  last bigint not null default 0,
  forgotten bigint not null default 0,
  primary key (tenant_id, livemode)
) with (fillfactor = 50);
