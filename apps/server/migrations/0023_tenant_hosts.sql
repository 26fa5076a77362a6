-- Host names that belong to one tenant: at them area E serves this tenant only, and nothing else is served. A name leads to a tenant before
-- anything is known of the request, so every cell has the names of all tenants, as with the cell map itself: one cell that answers is enough
-- to know them all. Therefore the tenant may be in another cell, and there is no foreign key. Grows with customers, at most 20 rows each.
create table tenant_hosts (
  host text primary key check (length(host) between 1 and 253 and host = lower(host)),
  tenant_id uuid not null,
  created_at timestamptz not null
);
