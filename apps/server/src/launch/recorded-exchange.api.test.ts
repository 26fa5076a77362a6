import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { RISK_POLICY_VERSION } from '@ostiary/contract'
import pg from 'pg'
import { createHarness, type TestDatabase } from '../testing/harness.ts'
import type { Recorded, Rows } from './testing/record-exchange.ts'

const FILE = new URL('testing/last-release.json', import.meta.url)
const { masterKey, sessions }: Recorded = JSON.parse(readFileSync(FILE, 'utf8'))

/** What the service draws by chance, or makes from that. */
const BY_CHANCE = ['sealKey', 'nonce', 'steps', 'sampleAtMs', 'code', 'redirectUrl', 'codeHash', 'guid', 'puid']
/** What the release knows in an answer. The result names the policy of the release that evaluates it. */
const known = (answer: object): object =>
  JSON.parse(JSON.stringify(answer), (name, value) => {
    if (name === 'policyVersion') return RISK_POLICY_VERSION
    return BY_CHANCE.includes(name) ? undefined : value
  })

for (const { what, calls, key, read, result } of sessions) {
  test(`the page of the last release plays ${what} on rows of its release`, async () => {
    const harness = await createHarness({ MASTER_KEY: masterKey })
    for (const { at, rows, path, headers, body, status, answer } of calls) {
      harness.clock.advance(Date.parse(at) - harness.clock.now().getTime())
      await putRows(harness.database, rows)
      const answered = await harness.inject({ method: 'POST', url: path, headers, payload: body })
      assert.equal(answered.statusCode, status, `${path}: ${answered.body}`)
      assert.partialDeepStrictEqual(answered.json(), known(answer), path)
    }
    const found = await harness.inject({ url: read, headers: { 'x-api-key': key } })
    assert.partialDeepStrictEqual(found.json(), known(result))
  })
}

/** Replaces the rows of these tables. Columns that the last release does not know get what they have by default. */
async function putRows({ url }: TestDatabase, tables: Rows): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  // The tables refer to each other.
  await client.query(`begin; set local session_replication_role = replica`)
  for (const [table, rows] of Object.entries(tables)) {
    await client.query(`delete from ${table}`)
    for (const row of rows) {
      const columns = Object.keys(row).join(', ')
      const text = `insert into ${table} (${columns}) select ${columns} from jsonb_populate_record(null::${table}, $1)`
      await client.query(text, [JSON.stringify(row)])
    }
  }
  await client.query('commit')
  await client.end()
}
