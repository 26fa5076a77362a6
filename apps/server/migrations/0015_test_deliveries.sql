-- A tenant with millions of live deliveries lists its few test ones. Live rows cost nothing here.
create index webhook_deliveries_of_tests on webhook_deliveries (tenant_id, delivery_id) where not livemode;
