import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { createAgeFixture, type Host } from './age/testing/fixture.ts'
import { bucketOf } from './platform/ids.ts'
import { createTestDatabase, migratedTemplate, type TestDatabase } from './testing/harness.ts'

test('two cells: sessions, their devices and their webhooks leave rows in the cell of their tenant alone', async (t) => {
  const template = await migratedTemplate()
  const databases = [await createTestDatabase(template), await createTestDatabase(template)]
  const folder = temporaryFolder('cells')
  const file = join(folder, 'cells.json')
  const cells = { low: databases[0]?.url, high: databases[1]?.url }
  writeFileSync(file, JSON.stringify({ cells, buckets: { '0-511': 'low', '512-1023': 'high' } }))
  const fixture = await createAgeFixture({ DATABASE_URL: '', CELLS_FILE: file })
  t.after(async () => {
    for (const database of databases) await database.drop()
  })
  const hosts: (Host | undefined)[] = [undefined, undefined]
  // The bucket of a tenant is drawn.
  while (hosts.includes(undefined)) {
    const host = await fixture.newHost()
    hosts[bucketOf(host.tenantId) < 512 ? 0 : 1] = host
  }
  const sessions: string[][] = []
  for (const host of hosts as Host[]) {
    const callback = { url: fixture.receiver.url }
    const [played, cancelled] = [await host.create({ callback }), await host.create({ callback })]
    await fixture.visit(played.sessionId)
    assert.equal((await host.result(played.token)).flowStatus, 'COMPLETED')
    assert.equal((await host.call('POST', `/session/${cancelled.token}/cancel`)).statusCode, 200)
    sessions.push([played.sessionId, cancelled.sessionId])
  }
  await fixture.harness.wire.webhooks.dispatcher.tick()
  const arrived = fixture.receiver.received.map(({ body }) => JSON.parse(body.toString()).sessionId)
  assert.deepEqual(arrived.sort(), sessions.flat().sort())
  for (const [cell, database] of databases.entries()) {
    const rows = await allRows(database)
    const idsOf = (at: number) => [hosts[at]?.tenantId ?? '', hosts[at]?.keyId ?? '', ...(sessions[at] ?? [])]
    for (const id of idsOf(cell)) assert.ok(rows.includes(id), `${id} is not in its cell`)
    for (const id of idsOf(1 - cell)) assert.ok(!rows.includes(id), `${id} is in the other cell`)
  }
})

async function allRows({ query }: TestDatabase): Promise<string> {
  const { rows: tables } = await query(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  )
  const texts: string[] = []
  for (const { name } of tables) {
    const { rows } = await query(`select t::text as row from ${name} t`)
    texts.push(...rows.map(({ row }) => row))
  }
  return texts.join('\n')
}
