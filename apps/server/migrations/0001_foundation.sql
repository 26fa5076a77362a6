-- Vectors are stored and searched in PostgreSQL (area E). Asked for here, so that a database without the extension is
-- refused on the first day and not by the first customer who needs it.
create extension if not exists vector;

-- A tenant is one customer of the installation. Its id carries the tenant's bucket (platform/ids.ts), and so does every
-- id made for it. Grows with customers, not with traffic.
create table tenants (
  tenant_id uuid primary key,
  name text not null check (length(name) between 1 and 100),
  status text not null default 'active' check (status in ('active', 'suspended')),
  created_at timestamptz not null
);
create index tenants_by_name on tenants (name);

-- Callers without a key, where the operator left an area open. Their records are in the cell of bucket 0; the row is in
-- every cell, so that it does not matter which cell that is.
insert into tenants (tenant_id, name, created_at) values ('00000000-0000-7000-8000-000000000000', 'anonymous', now());
