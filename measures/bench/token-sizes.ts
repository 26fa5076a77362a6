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

/** Copies of a row (as JSON in `row.json`) with the values of `changes` in some columns, whatever columns the table has. */
const copies = (table: string, row: string, changes: string) =>
  `insert into ${table} select made.* from ${row}, ids, lateral jsonb_populate_record(null::${table}, ${row}.json || ${changes}) as made`

const COPY_TOKENS: Copy = {
  tables: ['face_persons', 'face_tokens'],
  statement: `with token as (select to_jsonb(t) as json, person_id from face_tokens t where person_id is not null limit 1),
    person as (select to_jsonb(p) as json from token join face_persons p using (person_id)),
    ids as materialized (select gen_random_uuid() as id from generate_series(1, $1::int)),
    persons as (${copies('face_persons', 'person', `jsonb_build_object('person_id', id, 'external_ref', null)`)})
    ${copies('face_tokens', 'token', `jsonb_build_object('person_id', id, 'token_id', '\\x' || md5('t' || id), 'account', '\\x' || md5('a' || id))`)}`,
}

const COPY_SHARES: Copy = {
  tables: ['persons', 'key_shares'],
  statement: `with share as (select to_jsonb(s) as json, account from key_shares s where state = 'ACTIVE' limit 1),
    person as (select to_jsonb(p) as json from share join persons p using (account)),
    ids as materialized (select left(md5(gen_random_uuid()::text), 22) as id from generate_series(1, $1::int)),
    owners as (${copies('persons', 'person', `jsonb_build_object('account', id)`)})
    ${copies('key_shares', 'share', `jsonb_build_object('account', id, 'token_id', id)`)}`,
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
    await client.query(statement, [rows])
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
