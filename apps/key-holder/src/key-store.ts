import { type Queryable, sql } from './platform/db.ts'
import type { Sealed } from './platform/key-vault.ts'

const FIND = sql(
  'service_keys.find',
  'select master_key_id as "masterKeyId", sealed as blob from service_keys where name = $1',
)
const ADD = sql(
  'service_keys.add',
  'insert into service_keys (name, master_key_id, sealed, created_at) values ($1, $2, $3, $4) on conflict do nothing',
)
const REPLACE = sql('service_keys.replace', 'update service_keys set master_key_id = $2, sealed = $3 where name = $1')

export const keyStore = {
  find: async (db: Queryable, name: string) => (await db.rows<Sealed>(FIND, [name]))[0],
  add: (db: Queryable, { name, sealed, createdAt }: { name: string; sealed: Sealed; createdAt: Date }) =>
    db.run(ADD, [name, sealed.masterKeyId, sealed.blob, createdAt]),
  replace: (db: Queryable, name: string, { masterKeyId, blob }: Sealed) => db.run(REPLACE, [name, masterKeyId, blob]),
}
