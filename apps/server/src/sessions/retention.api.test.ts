import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAgeFixture, type Host, LEAST } from '../age/testing/fixture.ts'
import { DAY_MS } from '../platform/clock.ts'
import { partitionName } from '../platform/partitions.ts'
import { assertError } from '../testing/harness.ts'
import { purgeWebhooks } from '../webhooks/jobs.ts'
import { dropSessionPartitions, prepareSessionPartitions, purgeSessions } from './jobs.ts'

const gone = [410, 'GONE', 'The session is over and deleted'] as const
const unknown = [404, 'NOT_FOUND', 'There is no session with this token'] as const

const fixture = await createAgeFixture()
const { db } = fixture.harness.wire.platform.cells.all()[0] ?? assert.fail()

const now = () => fixture.harness.clock.now()
const purge = async () => [await purgeSessions(db, now()), await purgeWebhooks(db, now())]
const count = async (table: string, sessionId: string, column = 'session_id') =>
  (await fixture.harness.database.query(`select 1 from ${table} where ${column} = $1`, [sessionId])).rowCount

describe('retention', () => {
  test('[C-008] it is the tenant’s own; when it has passed, neither API nor tables give anything back, and the key is gone', async () => {
    const short = await fixture.newHost({ settings: { retentionSeconds: 3_600 } })
    const usual = await fixture.newHost()
    const callback = { url: fixture.receiver.url, headers: { 'X-Secret': 'MARKED-header' } }
    const body = { metadata: { order: 'MARKED-value' }, callback }
    const create = async (host: Host) => {
      const created = (await host.call('POST', '/session', { ...LEAST, ...body }, { 'idempotency-key': 'one' })).json()
      await fixture.visit(created.sessionId, { ageYears: 42 })
      return created
    }
    const [brief, kept] = [await create(short), await create(usual)]
    await fixture.harness.wire.webhooks.dispatcher.tick()
    fixture.harness.clock.advance(3_599_000)
    assert.deepEqual(await purge(), [0, 0])
    assert.equal((await short.result(brief.token)).flowStatus, 'COMPLETED')
    fixture.harness.clock.advance(1_000)
    // Even before the purge runs, no call returns the content.
    assertError(await short.call('GET', `/session/${brief.token}/result`), ...gone)
    assertError(await short.call('GET', `/session/${brief.token}`), ...gone)
    assert.deepEqual(await purge(), [1, 1])
    for (const [table, column] of [
      ['session_secrets', 'session_id'],
      ['webhook_deliveries', 'subject_id'],
    ] as const) {
      assert.equal(await count(table, brief.sessionId, column), 0, table)
      assert.equal(await count(table, kept.sessionId, column), 1, `${table} of the other tenant`)
    }
    const about = [...(await fixture.dump())].filter(([, content]) => content.includes(brief.sessionId))
    assert.deepEqual(
      about.map(([table]) => table.replace(/_default$|_\d{8}$/, '')),
      ['idempotency_keys', 'sessions'],
      'its id alone is left: the tombstone, and that an Idempotency-Key was used',
    )
    for (const url of ['/result', '']) assertError(await short.call('GET', `/session/${brief.token}${url}`), ...gone)
    assertError(await short.call('POST', `/session/${brief.token}/cancel`), ...gone)
    assertError(await short.call('DELETE', `/session/${brief.token}`), ...gone)
    const repeated = await short.call('POST', '/session', { ...LEAST, ...body }, { 'idempotency-key': 'one' })
    assertError(repeated, ...gone)
    const { device } = await fixture.newDevice(brief.sessionId)
    await assert.rejects(device.open(), (error) => error instanceof Error && 'status' in error && error.status === 410)
    assert.equal((await usual.result(kept.token)).flowStatus, 'COMPLETED')
    fixture.harness.clock.advance(23 * 3_600_000)
    assertError(await usual.call('GET', `/session/${kept.token}/result`), ...gone)
  })

  test('a tombstone answers 410 for 30 days without details; after that the session is unknown', async () => {
    const host = await fixture.newHost({ settings: { retentionSeconds: 3_600 } })
    const { token, sessionId } = await host.create({ metadata: { order: 'A-7' } })
    await host.outcome(sessionId)
    const at = now()
    fixture.harness.clock.advance(3_600_000)
    await purge()
    const { rows } = await fixture.harness.database.query('select * from sessions where session_id = $1', [sessionId])
    const [{ token_hash, ...row }] = rows
    assert.equal(token_hash.length, 32)
    assert.deepEqual(row, {
      tenant_id: host.tenantId,
      created_at: at,
      session_id: sessionId,
      livemode: false,
      area: 'C',
      key_id: host.keyId,
      state: 'PURGED',
      // Only the moment of its deletion: how the session ended is not to be read from its times either.
      expires_at: new Date(at.getTime() + 3_600_000),
      due_at: Number.POSITIVE_INFINITY,
      ended_at: new Date(at.getTime() + 3_600_000),
      purge_at: new Date(at.getTime() + 3_600_000),
      metadata_tags: null,
      silent_retention_seconds: null,
      result_rule: null,
      version: -1,
    })
    fixture.harness.clock.advance(30 * DAY_MS - 1_000)
    assertError(await host.call('GET', `/session/${token}/result`), ...gone)
    fixture.harness.clock.advance(1_000)
    assertError(await host.call('GET', `/session/${token}/result`), ...unknown)
    const { device } = await fixture.newDevice(sessionId)
    await assert.rejects(device.open(), (error) => error instanceof Error && 'status' in error && error.status === 404)
  })

  test('open sessions are never purged, and an expired one is kept as long as any other', async () => {
    const host = await fixture.newHost({ settings: { retentionSeconds: 3_600, sessionSecondsMax: 604_800 } })
    const { token } = await host.create({ sessionExpiry: 604_800, metadata: { order: 'A-7' } })
    fixture.harness.clock.advance(7 * DAY_MS)
    assert.deepEqual(await purge(), [0, 0])
    assert.equal((await host.result(token)).flowStatus, null)
    fixture.harness.clock.advance(1)
    assert.equal((await host.result(token)).flowStatus, 'EXPIRED')
    fixture.harness.clock.advance(3_599_999)
    assert.equal((await host.result(token)).metadata.order, 'A-7')
    fixture.harness.clock.advance(1)
    assert.deepEqual(await purge(), [1, 0])
  })

  test('several workers at once purge every session', async () => {
    const host = await fixture.newHost({ settings: { retentionSeconds: 3_600 } })
    const made = await Promise.all(Array.from({ length: 30 }, () => host.create()))
    for (const { sessionId } of made) await host.outcome(sessionId)
    fixture.harness.clock.advance(3_600_000)
    const counts = await Promise.all(Array.from({ length: 4 }, () => purgeSessions(db, now())))
    // One worker may delete what is sealed while another holds the clear row, and marks it: that counts twice.
    const counted = counts.reduce((sum, one) => sum + one, 0)
    assert.ok(counted >= 30 && counted <= 60, String(counted))
    assert.equal(await purgeSessions(db, now()), 0)
    for (const { sessionId, token } of made) {
      assert.equal(await count('session_secrets', sessionId), 0)
      assertError(await host.call('GET', `/session/${token}/result`), ...gone)
    }
  })
})

/** A fixture of its own, because partitions concern the whole database. */
const own = await createAgeFixture()
// The first day of a fixture has its partitions already.
own.harness.clock.advance(2 * DAY_MS)
const { db: ownDb } = own.harness.wire.platform.cells.all()[0] ?? assert.fail()

describe('partitions', () => {
  const partitionsOf = async (table: string) =>
    (
      await own.harness.database.query(
        `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
         where i.inhparent = $1::regclass order by 1`,
        [table],
      )
    ).rows.map(({ name }) => name)
  const tableOf = async (table: string, sessionId: string) =>
    (
      await own.harness.database.query(`select tableoid::regclass::text as name from ${table} where session_id = $1`, [
        sessionId,
      ])
    ).rows[0]?.name

  test('partitions are created in advance, rows that came earlier move into them, and a second run has nothing to do', async () => {
    const host = await own.newHost()
    const early = await host.create()
    assert.equal(await tableOf('sessions', early.sessionId), 'sessions_default')
    assert.equal(await prepareSessionPartitions(ownDb, own.harness.clock.now()), 16)
    assert.equal(await prepareSessionPartitions(ownDb, own.harness.clock.now()), 0)
    const today = own.harness.clock.now()
    const later = await host.create()
    for (const table of ['sessions', 'session_secrets']) {
      for (const { sessionId } of [early, later])
        assert.equal(await tableOf(table, sessionId), partitionName(table, today))
      const last = partitionName(table, new Date(today.getTime() + 6 * DAY_MS))
      assert.ok((await partitionsOf(table)).includes(last))
    }
    await host.outcome(early.sessionId)
    assert.equal((await host.result(early.token)).flowStatus, 'COMPLETED', 'a moved session is the same session')
  })

  test('a day’s secrets are dropped after the longest retention and its tombstones a month later, never while a session needs them', async () => {
    const host = await own.newHost({ settings: { retentionSeconds: 30 * 86_400, sessionSecondsMax: 604_800 } })
    const day = own.harness.clock.now()
    const names = ['session_secrets', 'sessions'].map((table) => partitionName(table, day))
    const left = async () =>
      [...(await partitionsOf('session_secrets')), ...(await partitionsOf('sessions'))].filter((name) =>
        names.includes(name),
      )
    const { token } = await host.create({ sessionExpiry: 604_800 })
    const run = async () => {
      await own.harness.wire.age.ending.expireDue(ownDb)
      await purgeSessions(ownDb, own.harness.clock.now())
      await dropSessionPartitions(ownDb, own.harness.clock.now())
      return left()
    }
    own.harness.clock.advance(7 * DAY_MS + 1)
    assert.deepEqual(await run(), names)
    own.harness.clock.advance(30 * DAY_MS - 1_000)
    assert.deepEqual(await run(), names)
    assert.equal((await host.result(token)).flowStatus, 'EXPIRED', 'in its partition until the last moment')
    own.harness.clock.advance(3 * DAY_MS)
    assert.deepEqual(await run(), [names[1]], 'the secrets’ day is gone')
    assertError(await host.call('GET', `/session/${token}/result`), ...gone)
    own.harness.clock.advance(30 * DAY_MS)
    assert.deepEqual(await run(), [], 'and so are the tombstones')
    assertError(await host.call('GET', `/session/${token}/result`), ...unknown)
  })

  test('a day with an open session is not dropped, however old it is', async () => {
    const host = await own.newHost()
    const day = own.harness.clock.now()
    await prepareSessionPartitions(ownDb, day)
    const { token } = await host.create()
    own.harness.clock.advance(100 * DAY_MS)
    await dropSessionPartitions(ownDb, own.harness.clock.now())
    assert.ok((await partitionsOf('sessions')).includes(partitionName('sessions', day)))
    assert.equal((await host.result(token)).flowStatus, 'EXPIRED')
    await dropSessionPartitions(ownDb, own.harness.clock.now())
    assert.ok((await partitionsOf('sessions')).includes(partitionName('sessions', day)), 'now its result lives')
    assert.equal((await host.result(token)).flowStatus, 'EXPIRED')
  })

  test('tombstones of days that never got a partition are deleted too', async () => {
    const host = await own.newHost({ settings: { retentionSeconds: 3_600 } })
    const ended = await host.create()
    const open = await host.create()
    await host.outcome(ended.sessionId)
    assert.equal(await tableOf('sessions', ended.sessionId), 'sessions_default')
    own.harness.clock.advance(100 * DAY_MS)
    await purgeSessions(ownDb, own.harness.clock.now())
    await dropSessionPartitions(ownDb, own.harness.clock.now())
    assert.equal(await tableOf('sessions', ended.sessionId), undefined)
    assert.equal(await tableOf('sessions', open.sessionId), 'sessions_default')
  })
})
