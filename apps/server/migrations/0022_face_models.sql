-- Face models that a tenant has declared for area E, beside those that every tenant has: how many entries a vector has and what a cosine of
-- two of them means. A row never changes, because stored vectors and scores depend on it. model_id tells it from a later one of the same
-- name. The models hold for live and test data alike. Grows with customers, at most 8 rows each.
create table face_models (
  tenant_id uuid not null references tenants (tenant_id),
  name text not null check (name ~ '^[A-Za-z0-9_]{1,32}$' and name !~* '^face3_'),
  model_id uuid not null,
  dimension smallint not null check (dimension between 128 and 512),
  identify_min double precision not null,
  slope double precision not null,
  near_min double precision not null,
  consistent_min double precision not null,
  replay_min double precision not null,
  created_at timestamptz not null,
  primary key (tenant_id, name)
);
