import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAgeHost } from '../age/testing/fixture.ts'
import { DAY_MS } from '../platform/clock.ts'
import type { Queryable, Statement } from '../platform/db.ts'
import { partitionName } from '../platform/partitions.ts'
import { prepareSessionPartitions } from './jobs.ts'
import { type ListQuery, readListQuery, windowsBefore } from './list.ts'
import { sessionListStore } from './list-store.ts'

/** Two sessions a day for five days, oldest first. */
const made: { sessionId: string; at: Date }[] = []
const { fixture, host } = await createAgeHost()
const { clock, wire } = fixture.harness
await prepareSessionPartitions(wire.platform.cells.forId(host.tenantId), clock.now())
for (let n = 0; n < 10; n++) {
  const metadata = { parity: n % 2 }
  made.push({ sessionId: (await host.create({ metadata })).sessionId, at: clock.now() })
  clock.advance(DAY_MS / 2)
}

async function idsOf(query: Record<string, string>): Promise<string[]> {
  const found = await host.call('GET', `/sessions?${new URLSearchParams(query)}`)
  assert.equal(found.statusCode, 200, found.body)
  return found.json().items.map(({ sessionId }: { sessionId: string }) => sessionId)
}
const newestFirst = (from: number, to: number) =>
  made
    .slice(from, to)
    .map(({ sessionId }) => sessionId)
    .reverse()
const at = (n: number) => made[n]?.at ?? assert.fail()

describe('GET /sessions', () => {
  test('200: from a moment on, before another, and both', async () => {
    assert.deepEqual(await idsOf({ since: at(4).toISOString() }), newestFirst(4, 10))
    assert.deepEqual(await idsOf({ until: at(4).toISOString() }), newestFirst(0, 4))
    const [since, until] = [at(2).toISOString(), at(7).toISOString()]
    assert.deepEqual(await idsOf({ since, until }), newestFirst(2, 7))
    assert.deepEqual(
      await idsOf({ since, until, metadata: '{"parity":1}' }),
      [5, 3].map((n) => made[n]?.sessionId),
    )
    assert.deepEqual(await idsOf({ since: new Date(at(9).getTime() + 1).toISOString() }), [])
  })

  test('200: by state, open, ended and deleted', async () => {
    const own = await fixture.newHost()
    const [open, done, erased] = [await own.create(), await own.create(), await own.create()]
    await own.outcome(done.sessionId)
    await own.outcome(erased.sessionId)
    await own.call('DELETE', `/session/${erased.token}`)
    for (const [state, expected] of [
      ['CREATED', open],
      ['COMPLETED', done],
      ['PURGED', erased],
    ] as const) {
      const { items, count, nextCursor } = (await own.call('GET', `/sessions?state=${state}`)).json()
      assert.deepEqual([items[0].sessionId, items[0].state, count, nextCursor], [expected.sessionId, state, 1, null])
    }
    assert.equal((await own.call('GET', '/sessions?state=EXPIRED')).json().count, 0)
  })

  test('400: a state of the other area, a text that is not a moment, and a time that ends before it begins', async () => {
    for (const [query, pointer] of [
      ['state=SUCCESS', '/query/state'],
      ['since=today', '/query/since'],
      ['until=2026-02-30', '/query/until'],
      ['since=2026-01-03T00:00:00Z&until=2026-01-02T00:00:00Z', '/query/until'],
    ] as const) {
      const refused = await host.call('GET', `/sessions?${query}`)
      assert.equal(refused.statusCode, 400, query)
      assert.deepEqual([refused.json().code, refused.json().details[0].pointer], ['VALIDATION_FAILED', pointer], query)
    }
  })
})

describe('a page', () => {
  const bytes = 1024 * 1024

  test('[U1] ends where the requests of its sessions have 1 MB, and the pages together are complete', async () => {
    const own = await fixture.newHost()
    const metadata = { note: 'x'.repeat(8_000) }
    const ids: string[] = []
    // In two periods of the list.
    for (let n = 0; n < 150; n++) {
      ids.push((await own.create({ metadata })).sessionId)
      if (n === 60) clock.advance(3_600_000)
    }
    const pages: string[][] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await own.call('GET', `/sessions?limit=200${cursor && `&cursor=${cursor}`}`)
      assert.ok(page.body.length < 1.1 * bytes, `${page.body.length} bytes`)
      pages.push(page.json().items.map(({ sessionId }: { sessionId: string }) => sessionId))
      cursor = page.json().nextCursor
    }
    assert.deepEqual(pages.flat().toSorted(), ids.toSorted())
    assert.equal(pages.length, 2)
    const { rows } = await fixture.harness.database.query(
      'select sum(octet_length(request))::int as first from session_secrets where session_id = any($1)',
      [pages[0]],
    )
    assert.ok(rows[0].first >= bytes && rows[0].first < bytes + 20_000, `${rows[0].first} bytes`)
  })

  test('[U1] lets others have a turn after every ten sessions that are opened', async (t) => {
    const own = await fixture.newHost()
    for (let n = 0; n < 35; n++) await own.create({ metadata: { note: 'counted' } })
    const openedIn: number[] = []
    let turn = 0
    const { parse } = JSON
    t.mock.method(JSON, 'parse', (text: string) => {
      if (text.includes('counted')) openedIn[turn] = (openedIn[turn] ?? 0) + 1
      return parse(text)
    })
    let isOver = false
    const count = () => {
      turn++
      if (!isOver) setImmediate(count)
    }
    count()
    const page = await own.call('GET', '/sessions?limit=35')
    isOver = true
    t.mock.restoreAll()
    assert.equal(page.json().items.length, 35)
    assert.deepEqual(
      openedIn.filter((opened) => opened > 0),
      [10, 10, 10, 5],
    )
  })

  test('[U1] has a rate of its own', async () => {
    const live = await fixture.newHost({ livemode: true, usagePlanId: 'standard' })
    const { headers } = await live.call('GET', '/sessions')
    assert.equal(headers['ratelimit-policy'], '"session-list";q=10;w=2')
  })
})

describe('the days that a list reads', () => {
  /** The statements that a list runs, with their values. */
  async function statementsOf(query: ListQuery, tags: readonly string[]) {
    const now = fixture.harness.clock.now()
    const { before: place, since, limit } = readListQuery(query)
    const ran: { statement: Statement; values: readonly unknown[] }[] = []
    const recorder: Queryable = {
      async rows(statement, values = []) {
        ran.push({ statement, values })
        return []
      },
      run: assert.fail,
    }
    const filter = {
      before: place,
      limit,
      maxBytes: 1_000,
      tags,
      state: null,
      purgedAfter: new Date(0),
      purgedUntil: null,
    }
    for (const within of windowsBefore(place.createdAt, since, now))
      await sessionListStore.list(recorder, { ...host, livemode: false, area: 'age' }, { ...filter, within })
    return ran
  }

  /** The partitions that PostgreSQL reads for these statements, with a custom plan and with a generic plan. */
  async function partitionsRead(query: ListQuery, tags: readonly string[] = []): Promise<string[]> {
    const read = new Set<string>()
    const { wire } = fixture.harness
    await wire.platform.cells.forId(host.tenantId).withDedicatedClient(async (client) => {
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        await client.query(`set plan_cache_mode = ${mode}`)
        for (const { statement, values } of await statementsOf(query, tags)) {
          const text = `explain (analyze, costs off, timing off, summary off) ${statement.text}`
          const { rows } = await client.query({ text, values: [...values], name: `${mode}.${statement.name}` })
          for (const { 'QUERY PLAN': line } of rows) {
            const [, table] = / on (session(?:s|_secrets)_(?:\d{8}|default))\b/.exec(line) ?? []
            if (table && !line.includes('never executed')) read.add(table)
          }
        }
      }
    })
    return [...read].toSorted()
  }
  test('are the requested days, with and without a filter by metadata', async () => {
    const [since, until] = [at(2).toISOString(), at(5).toISOString()]
    const asked = [2, 3, 4, 5].flatMap((n) =>
      ['sessions', 'session_secrets'].map((table) => partitionName(table, at(n))),
    )
    for (const tags of [[], ['1']]) {
      const read = await partitionsRead({ since, until }, tags)
      assert.ok(read.some((name) => name.startsWith('sessions_')))
      assert.deepEqual(
        read.filter((name) => !asked.includes(name)),
        [],
        `${tags}`,
      )
    }
  })

  test('are one for a request of one day, and all for a request without a time', async () => {
    const day = at(4).toISOString().slice(0, 10)
    const query = { since: `${day}T00:00:00Z`, until: `${day}T23:59:59.999Z` }
    const sessionsOf = (read: string[]) => read.filter((name) => name.startsWith('sessions_'))
    assert.deepEqual(sessionsOf(await partitionsRead(query)), [partitionName('sessions', at(4))])
    assert.ok(sessionsOf(await partitionsRead({})).length > 5, 'otherwise the test would prove nothing')
  })
})
