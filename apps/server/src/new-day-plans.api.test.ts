/**
 * Connections plan a statement once, for any values. The first statement of a day is planned while its partitions are empty, and that plan
 * serves until PostgreSQL counts their rows, a minute later. So it must read rows by their keys, however empty the table looked.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgeFixture } from './age/testing/fixture.ts'
import { type Queryable, sql } from './platform/db.ts'
import { partitionName } from './platform/partitions.ts'
import { arrangeWebhookPartitions } from './webhooks/jobs.ts'

const POOL = 2

const fixture = await createAgeFixture({ DATABASE_POOL_MAX: String(POOL) })
const { platform } = fixture.harness.wire
const [cell] = platform.cells.all()
assert.ok(cell)
const db = cell.db
const now = platform.clock.now()
await arrangeWebhookPartitions(db, now)
const day = partitionName('', now)

interface Prepared {
  name: string
  values: number
}
const PREPARED = sql(
  'test.prepared',
  `select name, cardinality(parameter_types) as values from pg_prepared_statements where name ~ '^(sessions|webhooks)[.]'`,
)

/** The plans that every connection of the pool has, by statement. */
async function plansOf(valuesOf: (name: string) => readonly string[] | undefined = () => undefined) {
  const plans = new Map<string, Set<string>>()
  const read = async (tx: Queryable) => {
    for (const { name, values } of await tx.rows<Prepared>(PREPARED)) {
      const given = valuesOf(name) ?? Array.from({ length: values }, () => 'null')
      const list = given.length === 0 ? '' : `(${given.join(', ')})`
      const explain = sql('', `explain (costs off) execute "${name}"${list}`)
      const lines = await tx.rows<{ 'QUERY PLAN': string }>(explain)
      const text = lines.map((line) => line['QUERY PLAN']).join('\n')
      plans.set(name, (plans.get(name) ?? new Set()).add(text))
    }
  }
  // All at once, so that each has a connection of its own.
  await Promise.all(Array.from({ length: POOL }, () => db.transaction(read)))
  return plans
}

/** The scans of a plan: each with the table, and what follows it up to the next node. */
function scansOf(plan: string): { table: string; text: string }[] {
  return plan.split(/^ *(?:-> +)?(?=[A-Z][\w ]* on )/m).flatMap((text) => {
    const [, table] = / on (\w+)/.exec(text) ?? []
    return table !== undefined && /^\w+(?: \w+)* Scan/.test(text) ? [{ table, text }] : []
  })
}

const hasKey = (text: string, key: string) => new RegExp(`Index Cond: .*\\b${key} = `).test(text)

/** Whether a scan finds its rows by a key, and begins with the first column of the index. */
function readsByKey(text: string): boolean {
  if (text.startsWith('Tid Scan')) return true
  if (!text.startsWith('Index')) return false
  const isPrimary = / using \w+_pkey /.test(text)
  return (hasKey(text, 'session_id') || hasKey(text, 'delivery_id')) && (!isPrimary || hasKey(text, 'tenant_id'))
}

test('statements that are planned on the empty partitions of a new day read rows by their keys', async () => {
  const host = await fixture.newHost()
  const callback = { url: fixture.receiver.url }
  for (let session = 0; session < 3; session++) {
    const { sessionId, token } = await host.create({ callback })
    await fixture.visit(sessionId)
    await host.result(token)
  }
  assert.equal(await fixture.harness.wire.webhooks.dispatcher.tick(), 3)

  const plans = await plansOf()
  const ofDay = [...plans].filter(([name]) => name.endsWith(day))
  const names = ofDay.map(([name]) => name.slice(0, -day.length)).toSorted()
  for (const name of ['sessions.find', 'sessions.lock_version', 'sessions.save_version', 'sessions.end'])
    assert.ok(names.includes(name), `${name} is not among ${names}`)
  for (const [name, texts] of ofDay)
    for (const text of texts)
      for (const scan of scansOf(text).filter(({ table }) => table.endsWith(day)))
        assert.ok(readsByKey(scan.text), `${name} reads ${scan.table} by ${scan.text}in\n${text}`)
})

test('places of the queue are never looked for in the whole table', async () => {
  const plans = await plansOf()
  for (const name of ['webhooks.complete', 'webhooks.claim']) {
    const texts = plans.get(name) ?? assert.fail(`${name} was not run`)
    for (const text of texts) assert.doesNotMatch(text, /Seq Scan on webhook_queue/, text)
  }
})

test('messages of a claim are looked up by their keys, in the partitions of their days only', async () => {
  const now = `'${fixture.harness.wire.platform.clock.now().toISOString()}'`
  const plans = await plansOf((name) => (name === 'webhooks.messages' ? ["'{}'", "'{}'", "'{}'", now, now] : undefined))
  for (const text of plans.get('webhooks.messages') ?? assert.fail('it was not run')) {
    const scans = scansOf(text).filter(({ table }) => table.startsWith('webhook_deliveries'))
    assert.deepEqual(
      scans.map(({ table }) => table),
      [`webhook_deliveries${day}`],
      text,
    )
    for (const scan of scans) assert.ok(readsByKey(scan.text), text)
  }
})
