import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { TokenSite } from '@ostiary/testkit/measuring/token-site'
import { ROOT } from '@ostiary/testkit/run'
import pg from 'pg'

export interface Stored {
  what: string
  bytes: number
}

/** What both databases store for a person, with indexes: measured on this many rows, which are copies of one row under other ids. */
export async function storedBytes({ databaseUrl, keyHolder }: TokenSite, rows: number): Promise<Stored[]> {
  return [
    { what: 'person and token at the matcher', bytes: await grow(databaseUrl, COPY_TOKENS, rows) },
    { what: 'key share at the key holder', bytes: await grow(keyHolder.databaseUrl, COPY_SHARES, rows) },
  ]
}

interface Copy {
  tables: readonly string[]
  statement: string
}

const COPY_TOKENS: Copy = {
  tables: ['face_persons', 'face_tokens'],
  statement: `with one as (select * from face_tokens where person_id is not null limit 1),
    made as (
      insert into face_persons (tenant_id, livemode, person_id, wrapped_key, created_at)
      select p.tenant_id, p.livemode, gen_random_uuid(), p.wrapped_key, p.created_at
      from one join face_persons p using (tenant_id, livemode, person_id), generate_series(1, $1::int)
      returning person_id)
    insert into face_tokens (tenant_id, livemode, token_id, account, person_id, session_id, model, format, token_hash, device_key, sealed, sealed_token,
      master_key_id, created_at, evaluations, day, day_evaluations)
    select tenant_id, livemode, decode(md5('t' || made.person_id || $2), 'hex'), decode(md5('a' || made.person_id || $2), 'hex'), made.person_id, session_id,
      model, format, token_hash, device_key, sealed, sealed_token, master_key_id, created_at, evaluations, day, day_evaluations from one, made`,
}

const COPY_SHARES: Copy = {
  tables: ['persons', 'key_shares'],
  statement: `with one as (select * from key_shares where state = 'ACTIVE' limit 1),
    made as (
      insert into persons (realm, account, failed_on)
      select realm, left(md5($2 || n) , 22), array[]::date[] from one, generate_series(1, $1::int) n returning realm, account)
    insert into key_shares (realm, token_id, account, state, model, format, master_key_id, sealed, created_at, evaluations, evaluated_on, evaluations_that_day)
    select realm, left(md5('t' || $2 || made.account), 22), made.account, state, model, format, master_key_id, sealed, created_at, evaluations, evaluated_on,
      evaluations_that_day from one join made using (realm)`,
}

async function grow(databaseUrl: string, { tables, statement }: Copy, rows: number): Promise<number> {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  const size = async () => {
    const { rows: found } = await client.query<{ bytes: string }>(
      'select sum(pg_total_relation_size(name::regclass))::text as bytes from unnest($1::text[]) as name',
      [tables],
    )
    return Number(found[0]?.bytes)
  }
  try {
    const before = await size()
    await client.query(statement, [rows, randomBytes(8).toString('hex')])
    return ((await size()) - before) / rows
  } finally {
    await client.end()
  }
}

/** Where the built page is: `LAUNCH_DIR` names another folder. */
const ASSETS = join(process.env.LAUNCH_DIR ?? `${ROOT}apps/launch/dist`, 'assets')

/** What sessions with tokens load beside the rest of the page. */
export function pageBytes(): string {
  const files = existsSync(ASSETS) ? readdirSync(ASSETS) : []
  const scripts = files.filter((file) => /token.*\.js$/i.test(file))
  if (scripts.length === 0) return `the page built at ${ASSETS} has no script for tokens: nothing measured there`
  const contents = scripts.map((file) => readFileSync(join(ASSETS, file)))
  const total = (sizes: readonly number[]) => sizes.reduce((sum, size) => sum + size, 0)
  const bytes = total(contents.map(({ length }) => length))
  const compressed = total(contents.map((content) => gzipSync(content).length))
  return `the page loads ${scripts.length} scripts for tokens: ${bytes} bytes, compressed ${compressed}`
}
