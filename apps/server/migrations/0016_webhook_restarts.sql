-- How often a delivery was started again. An attempt that was under way then must not write its plan over the new beginning.
alter table webhook_queue add column restarts integer not null default 0;
