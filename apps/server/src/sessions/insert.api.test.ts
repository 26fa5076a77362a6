import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ageSessionsIn } from '../age/index.ts'
import { createAgeFixture } from '../age/testing/fixture.ts'
import { isPurged } from './index.ts'

const fixture = await createAgeFixture()

test('sessions that are created at the same time are inserted together, each with its own content', async () => {
  const hosts = await Promise.all([fixture.newHost(), fixture.newHost()])
  const bodyOf = (index: number) => ({
    sessionExpiry: 60 + index,
    ...(index % 3 !== 0 && { metadata: { order: `K-${index}` } }),
  })
  const made = await Promise.all(
    Array.from({ length: 70 }, async (_, index) => {
      const host = hosts[index % 2] ?? assert.fail()
      return { host, index, created: await host.create(bodyOf(index)) }
    }),
  )
  assert.equal(new Set(made.map(({ created }) => created.sessionId)).size, 70)
  for (const { host, index, created } of made) {
    const session = await ageSessionsIn(fixture.harness.wire.sessions.service).findByToken(created.token)
    assert.ok(session && !isPurged(session))
    const { tenantId, keyId, area, state, livemode, createdAt, expiresAt, dueAt } = session
    assert.deepEqual([tenantId, area, state, livemode], [host.tenantId, 'age', 'CREATED', false])
    assert.equal(expiresAt.getTime() - createdAt.getTime(), (60 + index) * 1000)
    assert.deepEqual([dueAt, created.expiresAt], [expiresAt, expiresAt.toISOString()])
    assert.ok(keyId)
    assert.deepEqual(session.request.metadata, bodyOf(index).metadata ?? {})
    if (index % 3 === 0) continue
    const filter = encodeURIComponent(JSON.stringify({ order: `K-${index}` }))
    const { items } = (await host.call('GET', `/sessions?metadata=${filter}`)).json()
    assert.deepEqual(
      items.map(({ sessionId }: { sessionId: string }) => sessionId),
      [created.sessionId],
    )
  }
  const { rows } = await fixture.harness.database.query(
    'select count(*)::int as sessions, count(distinct xmin::text)::int as transactions from sessions where tenant_id = any($1)',
    [hosts.map(({ tenantId }) => tenantId)],
  )
  assert.equal(rows[0].sessions, 70)
  assert.ok(rows[0].transactions < 60, `${rows[0].transactions} transactions`)
})

const REQUEST = {
  redirectUrl: 'https://shop.example/back',
  enableDesktop: false,
  locale: null,
  requirements: ['face'] as const,
  callback: null,
  policy: { defaultLocale: 'en' },
}

test('a session that cannot be inserted fails alone; the others are inserted', async () => {
  const host = await fixture.newHost()
  const { service: sessions } = fixture.harness.wire.sessions
  const prepare = () =>
    sessions.prepare({
      creator: { tenantId: host.tenantId, livemode: false, keyId: host.keyId },
      area: 'age',
      now: fixture.harness.clock.now(),
      lifetimeSeconds: 60,
      metadata: {},
      makeRequest: () => REQUEST,
    })
  const [one, twice, last] = await Promise.all([prepare(), prepare(), prepare()])
  await twice.insertNow()
  const ends = await Promise.allSettled([one.insertNow(), twice.insertNow(), last.insertNow()])
  assert.deepEqual(
    ends.map((end) => (end.status === 'rejected' ? end.reason.code : 'stored')),
    ['stored', '23505', 'stored'],
  )
  for (const { sessionId } of [one, twice, last]) assert.ok(await sessions.find(sessionId))
})
