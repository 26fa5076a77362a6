-- Results that are made when they are read are gone (docs/decisions/0059-what-we-gave-back.md). This release reads stored results only, so
-- it must not start where the release before still has others, or may still make some.
do $$
begin
  -- Waits for workers of the release before that are ending sessions in this way: they hold the row. None can begin before the commit.
  perform from schema_migrations where name = '0029_late_results.sql' and compatible_from = '0029' for update;
  if found
    -- As the release before looks for them, by the index sessions_not_purged.
    or exists (select from sessions where result_rule is not null and purge_at is not null and due_at < 'infinity')
  then
    raise exception 'some results are not stored (LATE_RESULTS). On the release before, start all workers with LATE_RESULTS=false and wait until one logs "all results are stored", or until these sessions are purged. Then start this release';
  end if;
end $$;
-- A worker of the release before that starts with LATE_RESULTS=true cannot turn it on again: its job arrange-late-results fails, and it ends
-- sessions with stored results.
alter table schema_migrations add constraint no_late_results
  check (name <> '0029_late_results.sql' or compatible_from is distinct from '0029');
