import { type Queryable, sql } from './platform/db.ts'

const USE = sql(
  'request_ids.use',
  'insert into request_ids (request_id, expires_at) values ($1, $2) on conflict do nothing',
)
const PURGE = sql('request_ids.purge', 'delete from request_ids where expires_at < $1')

export const requestIdStore = {
  /** False if the id was used before. */
  use: async (db: Queryable, requestId: string, expiresAt: Date) => (await db.run(USE, [requestId, expiresAt])) === 1,
  purge: (db: Queryable, now: Date) => db.run(PURGE, [now]),
}
