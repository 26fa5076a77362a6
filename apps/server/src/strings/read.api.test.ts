import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { sql } from '../platform/db.ts'
import { bucketOf } from '../platform/ids.ts'
import { assertError, assertInvalid, createHarness } from '../testing/harness.ts'
import { createStringsFixture, IS_UNKNOWN, UNKNOWN_ID } from './testing/fixture.ts'

const { harness, withKey, create } = await createStringsFixture()
after(() => harness.close())

describe('GET /strings', () => {
  test('200: pages are complete and without repeats, in both orders, while records come and go', async () => {
    const mine = await harness.tenantWithKey()
    const headers = { 'x-api-key': mine.key }
    const ids: string[] = []
    for (let i = 0; i < 25; i++) ids.push((await create({ value: `v${i}` }, headers)).json().id)
    for (const order of ['asc', 'desc']) {
      const seen: string[] = []
      let cursor: string | null = null
      do {
        const url: string = `/strings?limit=10&order=${order}${cursor ? `&cursor=${cursor}` : ''}`
        const page: { items: { id: string }[]; count: number; nextCursor: string | null } = (
          await harness.inject({ url, headers })
        ).json()
        assert.deepEqual(Object.keys(page), ['items', 'count', 'nextCursor'])
        assert.equal(page.count, page.items.length)
        seen.push(...page.items.map((item) => item.id))
        cursor = page.nextCursor
      } while (cursor)
      assert.deepEqual(seen, order === 'asc' ? ids : ids.toReversed())
    }
    const first = (await harness.inject({ url: '/strings?limit=10', headers })).json()
    await create({ value: 'added meanwhile' }, headers)
    await harness.inject({ method: 'DELETE', url: `/strings/${ids[24]}`, headers })
    const second = (await harness.inject({ url: `/strings?cursor=${first.nextCursor}`, headers })).json()
    assert.deepEqual(
      second.items.map((item: { id: string }) => item.id),
      ids.slice(0, 15).toReversed(),
    )
    assert.equal(second.nextCursor, null)
  })

  test('200: a page ends at 1 MB too, and the pages together are complete', async () => {
    const mine = await harness.tenantWithKey()
    const headers = { 'x-api-key': mine.key }
    for (let i = 0; i < 40; i++) await create({ value: 'x'.repeat(60_000) }, headers)
    const sizes: number[] = []
    let cursor: string | null = null
    do {
      const response = await harness.inject({ url: `/strings?limit=200${cursor ? `&cursor=${cursor}` : ''}`, headers })
      assert.ok(response.body.length < 1_200_000, `${response.body.length} bytes`)
      const page: { count: number; nextCursor: string | null } = response.json()
      sizes.push(page.count)
      cursor = page.nextCursor
    } while (cursor)
    assert.deepEqual(sizes, [18, 18, 4])
  })

  test('[U2] is answered while slow statements of another tenant occupy their share of the connections', async () => {
    const mine = await harness.tenantWithKey()
    const db = harness.wire.platform.cells.forBucket((bucketOf(mine.tenantId) + 1) % 1024)
    let ended = 0
    const sleeps = Array.from({ length: 8 }, () => db.rows(sql('', 'select pg_sleep(0.3)')).then(() => void ended++))
    const answer = await harness.inject({ url: '/strings?limit=1', headers: { 'x-api-key': mine.key } })
    assert.deepEqual([answer.statusCode, ended], [200, 0])
    await Promise.all(sleeps)
  })

  test('200: an empty list', async () => {
    const fresh = await harness.tenantWithKey()
    const response = await harness.inject({ url: '/strings', headers: { 'x-api-key': fresh.key } })
    assert.deepEqual([response.statusCode, response.json()], [200, { items: [], count: 0, nextCursor: null }])
  })

  test('400: limits, orders, cursors and names that do not exist', async () => {
    const cases: [string, string, string][] = [
      ['limit=0', '/query/limit', 'must be >= 1'],
      ['limit=201', '/query/limit', 'must be <= 200'],
      ['limit=ten', '/query/limit', 'must be integer'],
      ['limit=true', '/query/limit', 'must be integer'],
      ['limit=0x5', '/query/limit', 'must be integer'],
      ['limit=', '/query/limit', 'must be integer'],
      ['limit=1&limit=2', '/query/limit', 'must be integer'],
      ['order=up', '/query/order', 'must be one of asc, desc'],
      ['cursor=abc', '/query/cursor', 'is not a cursor from an earlier page'],
      [
        `cursor=${Buffer.from(`asc:${UNKNOWN_ID}`).toString('base64url')}&order=desc`,
        '/query/order',
        'is not the order of this cursor',
      ],
      ['page=2', '/query/page', 'is not a known field'],
      ['__proto__=1', '/query/__proto__', 'is not a known field'],
      ['constructor=1', '/query/constructor', 'is not a known field'],
    ]
    for (const [query, pointer, message] of cases) {
      const response = await harness.inject({ url: `/strings?${query}`, headers: withKey() })
      assertInvalid(response, pointer, message)
    }
  })
})

describe('GET /strings/:id', () => {
  test('200: the record', async () => {
    const record = (await create({ value: 'one' })).json()
    const response = await harness.inject({ url: `/strings/${record.id}`, headers: withKey() })
    assert.deepEqual([response.statusCode, response.json()], [200, record])
  })

  test('404: unknown, malformed and over-long ids answer alike, to a deletion too', async () => {
    for (const id of [
      UNKNOWN_ID,
      'x',
      '1',
      "'; drop table strings; --",
      '%00',
      '019F1C2E-7A40-7B3C-8F00-5D2B9C41E6AA',
      'ü',
      'a'.repeat(200),
    ]) {
      const url = `/strings/${encodeURIComponent(id)}`
      for (const method of ['GET', 'DELETE'] as const)
        assertError(await harness.inject({ method, url, headers: withKey() }), ...IS_UNKNOWN)
    }
    const long = await harness.inject({ url: `/strings/${'a'.repeat(300)}`, headers: withKey() })
    assertError(long, 404, 'NOT_FOUND', 'There is nothing at this path')
  })

  test('404: a record disappears when its ttlSeconds have passed, and can no longer be listed or deleted', async () => {
    const local = await createHarness()
    const headers = { 'x-api-key': (await local.tenantWithKey()).key }
    const { id } = (
      await local.inject({ method: 'POST', url: '/strings', headers, payload: { value: 'short', ttlSeconds: 2 } })
    ).json()
    local.clock.advance(1_999)
    assert.equal((await local.inject({ url: `/strings/${id}`, headers })).statusCode, 200)
    local.clock.advance(1)
    assertError(await local.inject({ url: `/strings/${id}`, headers }), ...IS_UNKNOWN)
    assert.equal((await local.inject({ method: 'DELETE', url: `/strings/${id}`, headers })).statusCode, 404)
    assert.equal((await local.inject({ url: '/strings', headers })).json().count, 0)
  })
})

describe('DELETE /strings/:id', () => {
  test('204: gone afterwards; a second delete is 404', async () => {
    const { id } = (await create({ value: 'bye' })).json()
    const response = await harness.inject({ method: 'DELETE', url: `/strings/${id}`, headers: withKey() })
    assert.deepEqual([response.statusCode, response.body], [204, ''])
    assertError(await harness.inject({ method: 'DELETE', url: `/strings/${id}`, headers: withKey() }), ...IS_UNKNOWN)
    assertError(await harness.inject({ url: `/strings/${id}`, headers: withKey() }), ...IS_UNKNOWN)
  })

  test('204: a client may name a type for a body that it does not send', async () => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
      const { id } = (await create({ value: 'bye' })).json()
      const response = await harness.inject({
        method: 'DELETE',
        url: `/strings/${id}`,
        headers: withKey({ 'content-type': type }),
      })
      assert.equal(response.statusCode, 204, type)
    }
  })
})
