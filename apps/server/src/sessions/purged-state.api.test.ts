import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { missingPostgres, POSTGRES_FOLDER } from '@ostiary/testkit/missing'
import { assertError } from '../testing/harness.ts'
import { createVerificationFixture, PATH } from '../verification/testing/fixture.ts'
import { purgeWebhooks } from '../webhooks/jobs.ts'
import { status } from '../webhooks/testing/receiver.ts'
import { markPurgedSessions, purgeSessions } from './jobs.ts'

const DAY = 86_400_000
const HOUR = 3_600_000
const settings = { retentionSeconds: 3_600 }
const gone = [410, 'GONE', 'The session is over and deleted'] as const
const run = promisify(execFile)

const fixture = await createVerificationFixture()
const ages = await fixture.age.newHost({ settings })
const checks = await fixture.newHost({ settings })
const [cell] = fixture.harness.wire.platform.cells.all()
assert.ok(cell)
const { db } = cell

const now = () => fixture.harness.clock.now()
const query = (text: string, values: unknown[] = []) => fixture.harness.database.query(text, values)
const rowOf = async (sessionId: string) =>
  (await query('select * from sessions where session_id = $1', [sessionId])).rows[0] ?? assert.fail('no such row')

/** Everything a thief of the database would read, one row a line. */
async function dump(): Promise<string> {
  const options = [
    '--data-only',
    '--inserts',
    '--exclude-table-data=schema_migrations',
    `--dbname=${fixture.harness.database.url}`,
  ]
  const { stdout } = await run(join(POSTGRES_FOLDER, 'pg_dump'), options, { maxBuffer: 1e9 })
  return stdout
}

/** Words for an end in states, outcomes, flow statuses, events of webhooks and their deaths. */
const ENDS = /complet|succe|fail|cancel|expire|verdict|above|below|exhausted/i
const endsIn = (text: string) => text.split('\n').filter((line) => line.startsWith('INSERT') && ENDS.test(line))

type Webhook = 'none' | 'delivered' | 'dead' | 'pending'
interface Made {
  sessionId: string
  token?: string
  end: string
}

const callbackFor = (webhook: Webhook) => (webhook === 'none' ? {} : { callback: { url: fixture.receiver.url } })
/** Leaves the webhook as it is named. A receiver that answers 410 makes it dead at once. */
async function deliver(webhook: Webhook): Promise<void> {
  if (webhook === 'none' || webhook === 'pending') return
  fixture.receiver.answer(status(webhook === 'dead' ? 410 : 200))
  await fixture.harness.wire.webhooks.dispatcher.tick()
  fixture.receiver.answer(status(200))
}

async function endAge(end: 'COMPLETED' | 'CANCELLED' | 'EXPIRED', webhook: Webhook): Promise<Made> {
  const { sessionId, token } = await ages.create({ metadata: { order: 'A-7' }, ...callbackFor(webhook) })
  if (end === 'COMPLETED') await fixture.visit(sessionId, { ageYears: 42 })
  if (end === 'CANCELLED') await ages.call('POST', `/session/${token}/cancel`)
  if (end === 'EXPIRED') {
    fixture.harness.clock.advance(901_000)
    await fixture.harness.wire.age.ending.expireDue(db)
  }
  await deliver(webhook)
  assert.equal((await rowOf(sessionId)).state, end)
  return { sessionId, token, end }
}

const VERIFICATION_ENDS = {
  SUCCESS: {
    state: 'SUCCESS',
    person: { puid: '0b2f4c1e-0000-4000-8000-000000000001', guid: '0b2f4c1e-0000-4000-8000-000000000002' },
  },
  FAILED: { state: 'FAILED', failures: ['SPOOF'] },
  CANCELLED: { state: 'CANCELLED', code: 'HOST_CANCELLED' },
  EXPIRED: { state: 'EXPIRED' },
} as const

async function endCheck(end: keyof typeof VERIFICATION_ENDS, webhook: Webhook): Promise<Made> {
  const { sessionId } = await checks.create('ENROLL')
  await fixture.conclude(sessionId, VERIFICATION_ENDS[end])
  await deliver(webhook)
  assert.equal((await rowOf(sessionId)).state, end)
  return { sessionId, end }
}

const purge = async () => {
  await purgeSessions(db, now())
  await purgeWebhooks(db, now())
}

/** A tombstone without what differs from session to session: the same whatever the end was. */
async function shapeOf(sessionId: string) {
  const { session_id, token_hash, key_id, tenant_id, area, created_at, ...row } = await rowOf(sessionId)
  assert.ok(session_id && token_hash && key_id && tenant_id && area && created_at)
  const { purge_at, expires_at, ended_at, ...rest } = row
  assert.deepEqual([expires_at, ended_at], [purge_at, purge_at], 'no time but those of the creation and the deletion')
  return rest
}
const CLEARED = { metadata_tags: null, silent_retention_seconds: null, result_rule: null, version: -1 }
const TOMBSTONE = { livemode: false, state: 'PURGED', due_at: Number.POSITIVE_INFINITY, ...CLEARED }

describe('[C-008] after the end of retention', { skip: missingPostgres() }, () => {
  test('[C-008] a dump of the database holds no end of a session, in either area, whatever became of its webhook', async () => {
    const made: Made[] = []
    for (const end of ['COMPLETED', 'CANCELLED', 'EXPIRED'] as const)
      for (const webhook of ['none', 'delivered', 'dead', 'pending'] as const) made.push(await endAge(end, webhook))
    for (const end of ['SUCCESS', 'FAILED', 'CANCELLED', 'EXPIRED'] as const)
      for (const webhook of ['delivered', 'dead', 'pending'] as const) made.push(await endCheck(end, webhook))
    const before = await dump()
    for (const { sessionId, end } of made)
      assert.ok(
        before.split('\n').some((line) => line.includes(sessionId) && line.includes(end)),
        `${end} is there before`,
      )
    assert.match(before, /age\.session\.completed/)
    assert.match(before, /verification\.succeeded/)
    fixture.harness.clock.advance(HOUR)
    await purge()
    const after = await dump()
    assert.deepEqual(endsIn(after), [])
    for (const { sessionId } of made) {
      const about = after.split('\n').filter((line) => line.includes(sessionId))
      assert.deepEqual(
        about.map((line) => line.split(' ')[2]?.replace(/_default$|_\d{8}$/, '')),
        ['public.sessions'],
      )
      assert.deepEqual(await shapeOf(sessionId), TOMBSTONE)
    }
    assert.equal(await markPurgedSessions(db, now()), 0, 'the purge has left nothing to the other job')
  })

  test('a session that the host deletes early leaves no end either, and no call says one', async () => {
    const made = [
      await endAge('COMPLETED', 'delivered'),
      await endAge('CANCELLED', 'dead'),
      await endCheck('SUCCESS', 'delivered'),
      await endCheck('FAILED', 'dead'),
    ]
    fixture.harness.clock.advance(1_000)
    for (const { sessionId, token } of made) {
      const erased = token
        ? await ages.call('DELETE', `/session/${token}`)
        : await checks.call('DELETE', `${PATH}/${sessionId}`)
      assert.equal(erased.statusCode, 204)
      assert.deepEqual(await shapeOf(sessionId), TOMBSTONE)
    }
    assert.deepEqual(endsIn(await dump()), [])
    const deletedAt = now().toISOString()
    const items = (await ages.call('GET', '/sessions?state=PURGED')).json().items.slice(0, 2)
    for (const item of items) {
      const { createdAt, sessionId, ...rest } = item
      assert.ok(createdAt < deletedAt && made.some((one) => one.sessionId === sessionId))
      const times = { expiresAt: deletedAt, endedAt: deletedAt }
      assert.deepEqual(rest, { state: 'PURGED', flowStatus: null, ...times, livemode: false, metadata: {} })
    }
    const [, , third] = made
    const { state, outcome } = await checks.get(third?.sessionId ?? '')
    assert.deepEqual([state, outcome], ['PURGED', null])
    for (const { sessionId } of made.slice(0, 2)) {
      const chosen = await ages.call('POST', `/test/sessions/${sessionId}/outcome`, {})
      assertError(chosen, ...gone)
    }
  })
})

/** The statements of the last release that meet such rows. */
const LAST_RELEASE = {
  purge: `with due as (
     select tenant_id, created_at, session_id from session_secrets where purge_at <= $1
     order by purge_at limit $2 for update skip locked
   ), gone as (
     delete from session_secrets v using due d
     where v.tenant_id = d.tenant_id and v.created_at = d.created_at and v.session_id = d.session_id
     returning v.tenant_id, v.created_at, v.session_id
   ), cleared as (
     update sessions s set metadata_tags = null from gone g
     where s.tenant_id = g.tenant_id and s.created_at = g.created_at and s.session_id = g.session_id
       and s.metadata_tags is not null
   )
   select count(*)::int as count from gone`,
  lockDue: `select * from sessions where ended_at is null and due_at <= $1 and area = $3 order by due_at limit $2 for update skip locked`,
  list: `select * from sessions s where s.tenant_id = $1 and (s.purge_at is null or s.purge_at > $2)
    and ($3::text is null or s.state = $3) and ($4::timestamptz is null or s.purge_at <= $4)`,
}

describe('the last release', () => {
  test('purges beside this one: its tombstones lose their end by the job, in batches, once', async () => {
    const first = await endAge('EXPIRED', 'none')
    fixture.harness.clock.advance(HOUR)
    assert.equal((await query(LAST_RELEASE.purge, [now(), 1_000])).rows[0].count, 1)
    assert.equal((await rowOf(first.sessionId)).state, 'EXPIRED')
    const summary = (await ages.call('GET', '/sessions?state=PURGED')).json().items[0]
    assert.deepEqual(
      [summary.sessionId, summary.flowStatus],
      [first.sessionId, null],
      'no call says it, before the job too',
    )
    const kept = await endAge('COMPLETED', 'none')
    const open = await ages.create()
    // More rows than two batches have.
    await query(
      `insert into sessions select tenant_id, created_at - n * interval '1 second', gen_random_uuid(), livemode, area, key_id, state,
         token_hash, expires_at, due_at, ended_at, purge_at from sessions, generate_series(1, 4500) n where session_id = $1`,
      [first.sessionId],
    )
    await query('analyze sessions')
    const planned = (
      await query(
        `explain select 1 from sessions where purge_at <= '${now().toISOString()}' and due_at < 'infinity' order by purge_at limit 2000`,
      )
    ).rows
    const plan = planned.map((row) => row['QUERY PLAN']).join('\n')
    assert.match(plan, /purge_at_idx|sessions_not_purged/, plan)
    assert.doesNotMatch(plan, /Seq Scan/, plan)
    const counts = await Promise.all([markPurgedSessions(db, now()), markPurgedSessions(db, now())])
    assert.equal((counts[0] ?? 0) + (counts[1] ?? 0) + (await markPurgedSessions(db, now())), 4_501)
    assert.equal(await markPurgedSessions(db, now()), 0)
    assert.deepEqual(await shapeOf(first.sessionId), TOMBSTONE)
    assert.deepEqual(
      [(await rowOf(kept.sessionId)).state, (await rowOf(open.sessionId)).state],
      ['COMPLETED', 'CREATED'],
    )
    await query(`delete from sessions where state = 'PURGED' and session_id <> $1`, [first.sessionId])
  })

  test('meets a tombstone of this release as one of its own: never due, found as purged, in no other state', async () => {
    const { sessionId } = await endAge('COMPLETED', 'none')
    fixture.harness.clock.advance(HOUR)
    await purge()
    assert.deepEqual(
      (await query(LAST_RELEASE.lockDue, [now(), 1_000, 'C'])).rows
        .map((row) => row.session_id)
        .filter((id) => id === sessionId),
      [],
    )
    assert.equal((await query(LAST_RELEASE.purge, [now(), 1_000])).rows[0].count, 0)
    const listed = async (after: Date, state: string | null, until: Date | null) =>
      (await query(LAST_RELEASE.list, [ages.tenantId, after, state, until])).rows.some(
        (row) => row.session_id === sessionId,
      )
    const monthAgo = new Date(now().getTime() - 30 * DAY)
    assert.equal(await listed(monthAgo, null, null), true)
    assert.equal(await listed(monthAgo, null, now()), true, 'by the state PURGED')
    for (const state of ['COMPLETED', 'CANCELLED', 'EXPIRED']) assert.equal(await listed(now(), state, null), false)
  })
})

test('the purge does not wait for a row that a call holds; the other job marks it', async () => {
  const { sessionId } = await endAge('COMPLETED', 'none')
  fixture.harness.clock.advance(HOUR)
  const isHeld = Promise.withResolvers<void>()
  const isOver = Promise.withResolvers<void>()
  const holding = fixture.harness.wire.sessions.service.whileLocked(sessionId, async () => {
    isHeld.resolve()
    await isOver.promise
  })
  await isHeld.promise
  assert.equal(await purgeSessions(db, now()), 1)
  isOver.resolve()
  await holding
  assert.equal((await rowOf(sessionId)).state, 'COMPLETED')
  assert.equal(await markPurgedSessions(db, now()), 1)
  assert.deepEqual(await shapeOf(sessionId), TOMBSTONE)
})
