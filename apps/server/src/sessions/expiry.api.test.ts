import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { ageSessionsIn } from '../age/index.ts'
import { captureOf, createAgeFixture, type Host, readyDevice, type UserDevice } from '../age/testing/fixture.ts'
import { isPurged } from './index.ts'

let host: Host
const fixture = await createAgeFixture()
beforeEach(async () => {
  host = await fixture.newHost()
})

const sweep = () => fixture.harness.wire.age.ending.expireDue(fixture.harness.wire.platform.cells.forId(host.tenantId))
const passSeconds = (seconds: number) => fixture.harness.clock.advance(seconds * 1000)
const callback = () => ({ url: fixture.receiver.url })
const createMany = (count: number, body: object = {}) =>
  Promise.all(Array.from({ length: count }, () => host.create({ callback: callback(), ...body })))

async function deliveriesPerSession(): Promise<Map<string, number>> {
  const { rows } = await fixture.harness.database.query(
    'select subject_id, count(*)::int as count from webhook_deliveries where tenant_id = $1 group by 1',
    [host.tenantId],
  )
  return new Map(rows.map(({ subject_id, count }) => [subject_id, count]))
}

describe('the sweeper', () => {
  test('ends what is due and nothing else, each at its own time', async () => {
    const [short] = await createMany(1, { sessionExpiry: 60 })
    const [long] = await createMany(1)
    const [done] = await createMany(1, { sessionExpiry: 60 })
    assert.ok(short && long && done)
    await host.outcome(done.sessionId)
    assert.equal(await sweep(), 0)
    passSeconds(60)
    assert.equal(await sweep(), 1)
    assert.equal((await host.result(short.token)).flowStatus, 'EXPIRED')
    assert.equal((await host.result(long.token)).flowStatus, null)
    assert.equal((await host.result(done.token)).flowStatus, 'COMPLETED')
    assert.equal(await sweep(), 0)
    passSeconds(840)
    assert.equal(await sweep(), 1)
    assert.equal((await host.result(long.token)).flowStatus, 'EXPIRED')
  })

  test('several workers at once end each session once, with one webhook', async () => {
    const made = await createMany(60, { sessionExpiry: 60 })
    passSeconds(61)
    const counts = await Promise.all(Array.from({ length: 6 }, sweep))
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      60,
    )
    assert.deepEqual(await deliveriesPerSession(), new Map(made.map(({ sessionId }) => [sessionId, 1])))
    const { rows } = await fixture.harness.database.query(
      'select distinct state, ended_at is not null as ended from sessions where tenant_id = $1',
      [host.tenantId],
    )
    assert.deepEqual(rows, [{ state: 'EXPIRED', ended: true }])
  })

  test('skips a session that another transaction holds, and that transaction decides', async () => {
    const [held, free] = await createMany(2, { sessionExpiry: 60 })
    assert.ok(held && free)
    passSeconds(60)
    const { sessions, age } = fixture.harness.wire
    const taken = Promise.withResolvers<void>()
    const swept = Promise.withResolvers<void>()
    const holding = ageSessionsIn(sessions.service).whileLocked(held.sessionId, async (tx, found) => {
      taken.resolve()
      await swept.promise
      assert.ok(!isPurged(found))
      // A submit that began in time does the same.
      await age.ending.conclude(tx, found, { how: 'reached' })
    })
    await taken.promise
    assert.equal(await sweep(), 1)
    swept.resolve()
    await holding
    assert.equal(await sweep(), 0)
    assert.equal((await host.result(held.token)).flowStatus, 'COMPLETED')
    assert.equal((await host.result(free.token)).flowStatus, 'EXPIRED')
    assert.equal((await deliveriesPerSession()).get(held.sessionId), 1)
  })

  test('and readers, hosts and devices at the same moment: one end, one webhook', async () => {
    const made = await createMany(8, { sessionExpiry: 60 })
    passSeconds(61)
    const replies = await Promise.all([
      sweep(),
      ...made.map(({ token }) => host.call('GET', `/session/${token}/result`)),
      ...made.map(({ token }) => host.call('POST', `/session/${token}/cancel`)),
      sweep(),
      ...made.map(({ sessionId }) => host.call('POST', `/test/sessions/${sessionId}/outcome`, {})),
    ])
    const statuses = replies.flatMap((reply) => (typeof reply === 'number' ? [] : reply.statusCode))
    assert.deepEqual(new Set(statuses), new Set([200, 409]))
    for (const { token } of made) assert.equal((await host.result(token)).flowStatus, 'EXPIRED')
    assert.deepEqual(await deliveriesPerSession(), new Map(made.map(({ sessionId }) => [sessionId, 1])))
  })

  test('a session that cannot be opened does not block the others, and is ended once it can be opened', async () => {
    const [broken, sound] = await createMany(2, { sessionExpiry: 60 })
    assert.ok(broken && sound)
    const rename = (from: string, to: string) =>
      fixture.harness.database.query(
        `update session_secrets set master_key_id = regexp_replace(master_key_id, $2, $3) where session_id = $1`,
        [broken.sessionId, from, to],
      )
    await rename('^', 'missing-')
    passSeconds(61)
    await sweep()
    assert.equal((await host.result(sound.token)).flowStatus, 'EXPIRED')
    assert.equal(await sweep(), 0, 'it is not tried at every turn')
    assert.match(fixture.harness.logged(), /sessions cannot be opened; is a master key missing/)
    await rename('^missing-', '')
    passSeconds(3_600)
    assert.equal(await sweep(), 1)
    assert.equal((await host.result(broken.token)).flowStatus, 'EXPIRED')
  })

  test('a session that was never opened and one that was left half way both have -8', async () => {
    const [untouched, left] = await createMany(2)
    assert.ok(untouched && left)
    const user = await fixture.newDevice(left.sessionId)
    await readyDevice(user)
    passSeconds(901)
    assert.equal(await sweep(), 2)
    for (const { token } of [untouched, left]) {
      const { flowStatus, sessionStatus, errors, progress } = await host.result(token)
      assert.deepEqual([flowStatus, sessionStatus, errors, progress], ['EXPIRED', 'AGE_UNKNOWN', [-8], undefined])
    }
    const isOver = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'SESSION_NOT_OPEN'
    await assert.rejects(user.device.challenge(), isOver)
  })
})

describe('the extra time of a step that is under way', () => {
  /** A session of a minute whose user got the challenge after `atSeconds`. */
  async function begun(atSeconds: number) {
    const [created] = await createMany(1, { sessionExpiry: 60 })
    assert.ok(created)
    const user: UserDevice = await fixture.newDevice(created.sessionId)
    await readyDevice(user)
    passSeconds(atSeconds)
    const capture = await captureOf(user, { ageYears: 42 })
    return { ...created, submit: () => user.device.submit(capture), user }
  }

  test('a capture that began in time may arrive after the expiry', async () => {
    const { token, submit } = await begun(50)
    passSeconds(30)
    assert.equal(await sweep(), 0)
    const open = await host.result(token)
    assert.deepEqual([open.flowStatus, open.progress?.state], [null, 'FACE_ACTIVE'])
    assert.equal((await submit()).flowStatus, 'COMPLETED')
    const result = await host.result(token)
    assert.equal(result.sessionStatus, 'AGE_ABOVE_THRESHOLD')
    assert.ok(String(result.endedAt) > result.expiresAt)
    assert.equal((await deliveriesPerSession()).size, 1)
  })

  test('the extra time ends exactly with the challenge', async () => {
    const { token, submit } = await begun(50)
    passSeconds(89)
    assert.equal(await sweep(), 0)
    passSeconds(2)
    assert.equal(await sweep(), 1)
    await assert.rejects(submit())
    assert.equal((await host.result(token)).flowStatus, 'EXPIRED')
  })

  test('two minutes after the expiry the session ends, however many challenges were requested', async () => {
    const { token, user } = await begun(55)
    passSeconds(80)
    await user.device.challenge()
    passSeconds(44)
    assert.equal(await sweep(), 0, '179 s')
    passSeconds(2)
    assert.equal(await sweep(), 1, '181 s')
    assert.equal((await host.result(token)).flowStatus, 'EXPIRED')
  })
})
