-- An ENROLL that came to nothing notes whom it may have made, to be deleted. A session that has named such a person to the host
-- before notes it first: they stay. With keep_until the row says so, until no session can be left that could have made them.
alter table unmade_persons add column keep_until timestamptz;
