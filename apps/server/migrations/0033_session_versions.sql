-- Every change of a session raises its version. A call that has read one version saves only if the row still has it. The trigger raises it also
-- for processes of the last release, which know no version and compare the transaction that wrote the row. On the parent, so that the
-- partitions of all days have both, also those that are made later. The constant default rewrites no row.
alter table sessions add column version integer not null default 0;
create function raise_session_version() returns trigger language plpgsql as $$
begin
  -- A tombstone must not tell how many changes the session had: that hints at how it ended.
  new.version := case when new.state = 'PURGED' then -1 else old.version + 1 end;
  return new;
end $$;
create trigger raise_session_version before update on sessions for each row execute function raise_session_version();
