import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { CreatedSession } from '@ostiary/contract'
import { eventually } from '@ostiary/testkit/eventually'
import pg from 'pg'
import { DAY_MS } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import { migrationState, readMigrations } from '../platform/migrate.ts'
import { markPurgedSessions, prepareSessionPartitions, purgeSessions } from '../sessions/jobs.ts'
import { assertError } from '../testing/harness.ts'
import { createAgeRoom } from './index.ts'
import { type AgeFixture, createAgeFixture, type Host } from './testing/fixture.ts'

const SETTINGS = {
  retentionSeconds: 7_200,
  redirectCode: true,
  risk: { highBlocks: true, sources: ['network' as const] },
}

let fixture: AgeFixture
let host: Host
let db: Db
before(async () => {
  fixture = await createAgeFixture({ LATE_RESULTS: 'true' })
  const [cell] = fixture.harness.wire.platform.cells.all()
  assert.ok(cell)
  ;({ db } = cell)
  await prepareSessionPartitions(db, now())
})
after(() => fixture.close())
beforeEach(async () => {
  // What earlier tests have left.
  passSeconds(900)
  while ((await sweep()) > 0);
  passSeconds(86_400)
  await purgeSessions(db, now())
  await prepareSessionPartitions(db, now())
  host = await fixture.newHost({ livemode: true })
  await allow()
})

const now = () => fixture.harness.clock.now()
const passSeconds = (seconds: number) => fixture.harness.clock.advance(seconds * 1000)
const query = async (text: string, values: unknown[] = []) => (await fixture.harness.database.query(text, values)).rows
const ending = () => fixture.harness.wire.age.ending
const allow = () => ending().arrangeLateResults(db)
const sweep = (of = ending()) => of.expireDue(db)
const createMany = (count: number, body: object = {}, by = host) =>
  Promise.all(Array.from({ length: count }, () => by.create({ sessionExpiry: 60, ...body })))

/** A worker of this release whose operator has not allowed late results. */
function strictWorker() {
  const { wire } = fixture.harness
  return createAgeRoom(wire.platform, { ...wire, launchUrl: wire.config.launch.url }).ending
}

interface Row {
  state: string
  rule: number | null
  silent: number | null
  stored: boolean | null
  endedAt: Date | null
  purgeAt: Date | null
}

async function rowOf({ sessionId }: CreatedSession): Promise<Row> {
  const [row] = await query(
    `select s.state, s.result_rule as rule, s.silent_retention_seconds as silent, v.result is not null as stored, s.ended_at as "endedAt",
       s.purge_at as "purgeAt"
     from sessions s left join session_secrets v using (tenant_id, created_at, session_id) where s.session_id = $1`,
    [sessionId],
  )
  return row
}
const isLate = async (created: CreatedSession) => {
  const { state, rule, stored } = await rowOf(created)
  assert.equal(state, 'EXPIRED')
  assert.equal(rule === null, stored)
  return rule !== null
}
const bytesOf = async ({ token }: CreatedSession, more = '') => {
  const reply = await host.call('GET', `/session/${token}/result${more}`)
  assert.equal(reply.statusCode, 200, reply.body)
  assert.equal(reply.headers['retry-after'], undefined, 'the session has ended')
  return reply.body
}
async function countExpired(): Promise<number> {
  const { metrics } = fixture.harness.wire.platform
  return Number(/ostiary_sessions_ended_total\{flow="EXPIRED"\} (\d+)/.exec(await metrics.text())?.[1] ?? 0)
}

describe('a live session that nobody opened and that has no callback', () => {
  const bodies: readonly object[] = [
    {},
    { metadata: { order: 'A-7', lines: [1, 2] }, ageThreshold: 21.5 },
    { stepUpEnabled: true, documentAgeThreshold: 18 },
    { requirements: ['face', 'identity_document'], enableDesktop: true, locale: 'de' },
  ]

  test('has the bytes that the sweeper would have stored', async () => {
    for (const settings of [{}, SETTINGS]) {
      host = await fixture.newHost({ livemode: true, settings })
      const made = await Promise.all(bodies.map((body) => host.create({ sessionExpiry: 60, ...body })))
      const spaced = await host.call(
        'POST',
        '/session',
        '{"redirectUrl":"https://shop.example/back","ageThreshold":30,"sessionExpiry":60,"metadata":{ "n": 1.0 }}',
        { 'content-type': 'application/json' },
      )
      assert.equal(spaced.statusCode, 201, spaced.body)
      made.push(spaced.json())
      passSeconds(61)
      assert.equal(await sweep(), made.length)
      const late = new Map<string, string>()
      for (const one of made) {
        assert.ok(await isLate(one))
        late.set(one.sessionId, await bytesOf(one))
      }
      // The same sessions once more, in the way of every other session.
      await query(
        `update sessions set state = 'CREATED', ended_at = null, purge_at = null, result_rule = null, silent_retention_seconds = null
         where tenant_id = $1`,
        [host.tenantId],
      )
      assert.equal(await sweep(), made.length)
      for (const one of made) {
        assert.ok(!(await isLate(one)))
        assert.equal(await bytesOf(one), late.get(one.sessionId))
      }
    }
  })

  test('has the same bytes at every read, by every way, after a change of the settings too', async () => {
    host = await fixture.newHost({ livemode: true, settings: { retentionSeconds: 86_400 } })
    const [one] = await createMany(1, { metadata: { order: 'A-7' } })
    assert.ok(one)
    passSeconds(61)
    await sweep()
    const endedAt = now().toISOString()
    const bytes = await bytesOf(one)
    assert.equal(JSON.parse(bytes).endedAt, endedAt)
    await fixture.harness.wire.settings.service.set(host.tenantId, { ...SETTINGS, retentionSeconds: 3_600 })
    passSeconds(10_000)
    assert.equal(await bytesOf(one), bytes)
    assert.equal(await bytesOf(one, '?wait=5'), bytes)
    const byToken = await fixture.harness.inject(`/v1/session/${one.token}/result`)
    assert.equal(byToken.body, bytes)
    const { purgeAt } = await rowOf(one)
    assert.equal(purgeAt?.getTime(), Date.parse(endedAt) + 86_400_000, 'the retention of its creation')
  })

  test('looks like every other expired session to its host and to devices', async () => {
    const [one, other] = await createMany(2, { metadata: { order: 'late-list' } })
    assert.ok(one && other)
    passSeconds(61)
    await sweep()
    const summary = (await host.call('GET', `/session/${one.token}`)).json()
    assert.deepEqual([summary.state, summary.flowStatus, summary.endedAt], ['EXPIRED', 'EXPIRED', now().toISOString()])
    const listed = (await host.call('GET', '/sessions?state=EXPIRED&limit=10')).json()
    assert.equal(listed.count, 2)
    const code = { code: 'a'.repeat(43) }
    assertError(
      await host.call('POST', `/session/${one.token}/confirm`, code),
      409,
      'CODE_WRONG',
      'This is not the code of the session',
    )
    assert.equal((await host.call('POST', `/session/${one.token}/cancel`)).statusCode, 409)
    const { device } = await fixture.newDevice(one.sessionId)
    assert.equal((await device.open()).flowStatus, 'EXPIRED')
    assert.equal((await host.call('DELETE', `/session/${other.token}`)).statusCode, 204)
    assert.equal((await host.call('GET', `/session/${other.token}/result`)).statusCode, 410)
    assert.equal((await rowOf(other)).rule, null)
  })

  test('ends once when many sweepers work, and is counted once', async () => {
    const counted = await countExpired()
    const made = await createMany(60)
    passSeconds(61)
    const counts = await Promise.all(Array.from({ length: 6 }, () => sweep()))
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      60,
    )
    for (const one of made) assert.ok(await isLate(one))
    assert.equal((await countExpired()) - counted, 60)
  })

  test('ends also when no master key opens it, and is read when the key is back', async () => {
    const [one] = await createMany(1)
    assert.ok(one)
    const rename = (from: string, to: string) =>
      query('update session_secrets set master_key_id = regexp_replace(master_key_id, $2, $3) where session_id = $1', [
        one.sessionId,
        from,
        to,
      ])
    await rename('^', 'missing-')
    passSeconds(61)
    assert.equal(await sweep(), 1)
    const endedAt = now().toISOString()
    assert.equal((await host.call('GET', `/session/${one.token}/result`)).statusCode, 500)
    passSeconds(100)
    await rename('^missing-', '')
    assert.equal(JSON.parse(await bytesOf(one)).endedAt, endedAt)
  })

  test('is deleted with its retention: sealed part, rule, everything but the tombstone', async () => {
    host = await fixture.newHost({ livemode: true, settings: { retentionSeconds: 3_600 } })
    const [one, kept] = [
      ...(await createMany(1, { metadata: { order: 'MARKED' } })),
      ...(await createMany(1, { sessionExpiry: 600 })),
    ]
    assert.ok(one && kept)
    passSeconds(61)
    await sweep()
    passSeconds(3_599)
    assert.equal(await purgeSessions(db, now()), 0)
    await bytesOf(one)
    passSeconds(1)
    assert.equal((await host.call('GET', `/session/${one.token}/result`)).statusCode, 410, 'before the purge too')
    assert.equal(await purgeSessions(db, now()), 1)
    const { state, rule, silent, stored } = await rowOf(one)
    assert.deepEqual([state, rule, silent, stored], ['PURGED', null, null, false])
    const left = await query('select 1 from session_secrets where session_id = $1', [one.sessionId])
    assert.equal(left.length, 0)
    assert.equal((await query('select 1 from session_secrets where session_id = $1', [kept.sessionId])).length, 1)
    assert.equal(await markPurgedSessions(db, now()), 0)
  })

  test('in a day without a partition', async () => {
    const plain = await createAgeFixture({ LATE_RESULTS: 'true' })
    plain.harness.clock.advance(2 * DAY_MS)
    try {
      const live = await plain.newHost({ livemode: true })
      const cell = plain.harness.wire.platform.cells.forId(live.tenantId)
      await plain.harness.wire.age.ending.arrangeLateResults(cell)
      const { token } = await live.create({ sessionExpiry: 60 })
      plain.harness.clock.advance(61_000)
      assert.equal(await plain.harness.wire.age.ending.expireDue(cell), 1)
      const { rows } = await plain.harness.database.query('select result_rule from sessions_default')
      assert.deepEqual(rows, [{ result_rule: 1 }])
      assert.equal((await live.result(token)).flowStatus, 'EXPIRED')
    } finally {
      await plain.close()
    }
  })
})

describe('in the way of before end', () => {
  test('sessions with a callback, and the webhook is sent', async () => {
    const [one] = await createMany(1, { callback: { url: 'https://host.example/webhook' } })
    assert.ok(one)
    passSeconds(61)
    assert.equal(await sweep(), 1)
    assert.ok(!(await isLate(one)))
    const sent = await query('select event from webhook_deliveries where subject_id = $1', [one.sessionId])
    assert.deepEqual(sent, [{ event: 'age.session.expired' }])
  })

  test('test sessions, and their event is in the stream', async () => {
    const [one] = await createMany(1, {}, await fixture.newHost())
    assert.ok(one)
    passSeconds(61)
    assert.equal(await sweep(), 1)
    assert.ok(!(await isLate(one)))
    assert.equal((await query('select 1 from stream_events where subject_id = $1', [one.sessionId])).length, 1)
  })

  test('live sessions where the operator keeps a stream of them', async () => {
    const streaming = await createAgeFixture({ LATE_RESULTS: 'true', EVENTS_LIVE: 'true' })
    try {
      const live = await streaming.newHost({ livemode: true })
      const cell = streaming.harness.wire.platform.cells.forId(live.tenantId)
      await streaming.harness.wire.age.ending.arrangeLateResults(cell)
      const { sessionId } = await live.create({ sessionExpiry: 60 })
      streaming.harness.clock.advance(61_000)
      assert.equal(await streaming.harness.wire.age.ending.expireDue(cell), 1)
      const { rows } = await streaming.harness.database.query(
        `select e.event, s.result_rule from stream_events e join sessions s on s.session_id = e.subject_id where subject_id = $1`,
        [sessionId],
      )
      assert.deepEqual(rows, [{ event: 'age.session.expired', result_rule: null }])
    } finally {
      await streaming.close()
    }
  })

  test('sessions that a process of the last release created', async () => {
    const [one] = await createMany(1)
    assert.ok(one)
    await query('update sessions set silent_retention_seconds = null where session_id = $1', [one.sessionId])
    passSeconds(61)
    assert.equal(await sweep(), 1)
    assert.ok(!(await isLate(one)))
  })

  test('opened sessions, and those in the first state with progress that a refused call has left', async () => {
    const [opened, refused] = await createMany(2)
    assert.ok(opened && refused)
    for (const { sessionId } of [opened, refused]) await (await fixture.newDevice(sessionId)).device.open()
    await query(`update sessions set state = 'CREATED' where session_id = $1`, [refused.sessionId])
    passSeconds(61)
    assert.equal(await sweep(), 2)
    assert.ok(!(await isLate(opened)))
    assert.ok(!(await isLate(refused)))
  })

  test('one that a call holds: the sweeper passes over it', async () => {
    const [held, free] = await createMany(2)
    assert.ok(held && free)
    passSeconds(61)
    const taken = Promise.withResolvers<void>()
    const swept = Promise.withResolvers<void>()
    const holding = fixture.harness.wire.sessions.service.whileLocked(held.sessionId, async () => {
      taken.resolve()
      await swept.promise
    })
    await taken.promise
    assert.equal(await sweep(), 1)
    swept.resolve()
    await holding
    assert.equal((await rowOf(held)).state, 'CREATED')
    assert.equal(await sweep(), 1)
    assert.ok(await isLate(held))
  })
})

test('a batch that fails ends nobody, and the next one everybody', async () => {
  const made = [
    ...(await createMany(3)),
    ...(await createMany(1, { callback: { url: 'https://host.example/webhook' } })),
  ]
  passSeconds(61)
  await query('alter table webhook_queue rename to webhook_queue_away')
  await assert.rejects(sweep()).finally(() => query('alter table webhook_queue_away rename to webhook_queue'))
  for (const one of made) assert.equal((await rowOf(one)).state, 'CREATED')
  assert.equal(await sweep(), 4)
})

test('a worker that dies in the middle of a batch ends nobody, and the next one everybody', async () => {
  const made = [
    ...(await createMany(3)),
    ...(await createMany(1, { callback: { url: 'https://host.example/webhook' } })),
  ]
  passSeconds(61)
  const holder = new pg.Client(fixture.harness.database.url)
  await holder.connect()
  try {
    await holder.query('begin; lock table webhook_queue in access exclusive mode')
    const broken = assert.rejects(sweep())
    // Three sessions have ended by now in its transaction, and the webhook of the fourth waits.
    const waiting = await eventually(
      async () =>
        (
          await query(
            `select pid from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into webhook_queue%'`,
          )
        )[0],
    )
    await holder.query('select pg_terminate_backend($1)', [waiting.pid])
    await broken
  } finally {
    await holder.end()
  }
  for (const one of made) assert.equal((await rowOf(one)).state, 'CREATED')
  assert.equal(await sweep(), 4)
  assert.deepEqual(await Promise.all(made.map(isLate)), [true, true, true, false])
})

describe('the upgrade and the way back', () => {
  /** What a release sees that has the migrations up to 0028. */
  const seenByLastRelease = () =>
    migrationState(
      db,
      readMigrations().filter(({ name }) => name < '0029'),
    )
  const lateRows = async () => (await query('select 1 from sessions where result_rule is not null')).length

  test('without the setting nothing changes, and the last release may start', async () => {
    const strict = strictWorker()
    await strict.arrangeLateResults(db)
    assert.deepEqual((await seenByLastRelease()).incompatible, [])
    const made = await createMany(2)
    passSeconds(61)
    assert.equal(await sweep(strict), 2)
    for (const one of made) assert.ok(!(await isLate(one)))
  })

  test('before the database says that it is allowed, a worker with the setting ends as before', async () => {
    await strictWorker().arrangeLateResults(db)
    const [early, later] = [...(await createMany(1)), ...(await createMany(1, { sessionExpiry: 120 }))]
    assert.ok(early && later)
    passSeconds(61)
    assert.equal(await sweep(), 1)
    assert.ok(!(await isLate(early)))
    await allow()
    passSeconds(60)
    assert.equal(await sweep(), 1)
    assert.ok(await isLate(later))
  })

  test('while it is allowed the last release refuses to start; this one starts', async () => {
    assert.deepEqual((await seenByLastRelease()).incompatible, ['0029_late_results.sql'])
    assert.deepEqual((await migrationState(db, readMigrations())).incompatible, [])
  })

  test('on the way back all results are stored with the same bytes and purged by their own time', async () => {
    const made = await createMany(20)
    passSeconds(61)
    await sweep()
    passSeconds(5)
    const more = await createMany(3)
    passSeconds(61)
    await sweep()
    const before = new Map<string, [string, Row]>()
    for (const one of [...made, ...more]) before.set(one.sessionId, [await bytesOf(one), await rowOf(one)])
    assert.ok((await lateRows()) >= 23)
    assert.ok((await strictWorker().arrangeLateResults(db)) >= 23)
    assert.equal(await lateRows(), 0)
    assert.deepEqual((await seenByLastRelease()).incompatible, [])
    for (const one of [...made, ...more]) {
      const [bytes, row] = before.get(one.sessionId) ?? []
      assert.equal(await bytesOf(one), bytes)
      assert.deepEqual(await rowOf(one), { ...row, rule: null, stored: true })
      const sealed = await query('select purge_at as "purgeAt" from session_secrets where session_id = $1', [
        one.sessionId,
      ])
      assert.deepEqual(sealed, [{ purgeAt: row?.purgeAt }])
    }
    assert.match(fixture.harness.logged(), /the release before may start on this database/)
  })

  test('what cannot be opened keeps the last release out until it can', async () => {
    const [one, other] = await createMany(2)
    assert.ok(one && other)
    passSeconds(61)
    await sweep()
    await query(`update session_secrets set master_key_id = 'missing-' || master_key_id where session_id = $1`, [
      one.sessionId,
    ])
    await strictWorker().arrangeLateResults(db)
    assert.ok(!(await isLate(other)))
    assert.deepEqual((await seenByLastRelease()).incompatible, ['0029_late_results.sql'])
    await query(
      `update session_secrets set master_key_id = replace(master_key_id, 'missing-', '') where session_id = $1`,
      [one.sessionId],
    )
    await strictWorker().arrangeLateResults(db)
    assert.ok(!(await isLate(one)))
    assert.deepEqual((await seenByLastRelease()).incompatible, [])
  })

  test('workers with and without the setting at the same time leave no late result where it is not allowed', async () => {
    const strict = strictWorker()
    const made = await createMany(120)
    passSeconds(61)
    await Promise.all([sweep(), strict.arrangeLateResults(db), sweep(), sweep(strict), sweep()])
    while ((await sweep()) > 0);
    await strict.arrangeLateResults(db)
    assert.deepEqual([(await seenByLastRelease()).incompatible, await lateRows()], [[], 0])
    for (const one of made) assert.equal(JSON.parse(await bytesOf(one)).flowStatus, 'EXPIRED')
  })

  test('a result by a rule of a newer release is 503, and the list shows its session', async () => {
    const [one] = await createMany(1)
    assert.ok(one)
    passSeconds(61)
    await sweep()
    await query('update sessions set result_rule = 99 where session_id = $1', [one.sessionId])
    assert.equal((await host.call('GET', `/session/${one.token}/result`)).statusCode, 503)
    assert.equal((await host.call('GET', '/sessions')).json().count, 1)
    await query('update sessions set result_rule = 1 where session_id = $1', [one.sessionId])
  })
})
