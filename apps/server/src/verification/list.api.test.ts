import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertError } from '../testing/harness.ts'
import { createVerificationHost, type VerificationHost } from './testing/fixture.ts'

const { fixture, host } = await createVerificationHost()

const LIST = '/v2/verification-sessions'
const now = () => fixture.harness.clock.now()
const passSeconds = (seconds: number) => fixture.harness.clock.advance(seconds * 1000)
const idsOf = ({ items }: { items: { sessionId: string }[] }) => items.map(({ sessionId }) => sessionId)

async function list(who: VerificationHost, query: Record<string, string | number> = {}) {
  const text = Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
  const found = await who.call('GET', `${LIST}?${text}`)
  assert.equal(found.statusCode, 200, found.body)
  return found.json()
}

describe('GET /v2/verification-sessions', () => {
  test('200: newest first, open, ended and erased, each as its own read shows it without a debug log', async () => {
    const own = await fixture.newHost()
    const erased = await own.create('SIGN-IN')
    await own.outcome(erased.sessionId)
    await own.call('DELETE', `/v2/verification-session/${erased.sessionId}`)
    const erasedAt = now().toISOString()
    passSeconds(1)
    const failed = await own.create('VERIFY', { customerId: 'c-1', transactionID: 't-1', debugMode: ['3'] })
    await own.outcome(failed.sessionId, 'spoof')
    const failedAt = now().toISOString()
    passSeconds(1)
    const open = await own.create('ENROLL', { requirements: ['passkey', 'face'] })
    const openAt = now().toISOString()
    assert.ok((await own.get(failed.sessionId)).debugLog)
    assert.deepEqual(await list(own), {
      items: [
        {
          ...{ sessionId: open.sessionId, type: 'ENROLL', state: 'CREATED', outcome: null },
          ...{ requirements: ['face', 'passkey'], createdAt: openAt, expiresAt: open.expiresAt, endedAt: null },
          livemode: false,
        },
        {
          ...{ sessionId: failed.sessionId, type: 'VERIFY', state: 'FAILED', outcome: 'FAILED', transactionId: 't-1' },
          ...{ requirements: ['face'], createdAt: failedAt, expiresAt: failed.expiresAt, endedAt: failedAt },
          livemode: false,
        },
        {
          ...{ sessionId: erased.sessionId, type: null, state: 'PURGED', outcome: null, requirements: [] },
          ...{ createdAt: erasedAt, expiresAt: erasedAt, endedAt: erasedAt, livemode: false },
        },
      ],
      count: 3,
      nextCursor: null,
    })
  })

  test('200: by transactionID, of this tenant and of no other text', async () => {
    const [own, other] = [await fixture.newHost(), await fixture.newHost()]
    const made: string[] = []
    for (const transactionID of ['order-1', 'order-2', 'order-1', undefined]) {
      const { sessionId } = await own.create('ENROLL', transactionID === undefined ? {} : { transactionID })
      if (transactionID === 'order-1') made.unshift(sessionId)
      passSeconds(1)
    }
    await other.create('ENROLL', { transactionID: 'order-1' })
    assert.deepEqual(idsOf(await list(own, { transactionID: 'order-1' })), made)
    assert.deepEqual(idsOf(await list(own, { transactionID: 'order-1', limit: 1 })), made.slice(0, 1))
    assert.deepEqual(idsOf(await list(own, { transactionID: 'order' })), [])
  })

  test('200: page by page, each once, also sessions of the same moment', async () => {
    const own = await fixture.newHost()
    const made = new Set<string>()
    for (let n = 0; n < 7; n++) {
      made.add((await own.create()).sessionId)
      if (n % 2 === 0) passSeconds(1)
    }
    const pages: string[][] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await list(own, { limit: 3, ...(cursor && { cursor }) })
      assert.equal(page.count, page.items.length)
      pages.push(idsOf(page))
      cursor = page.nextCursor
    }
    assert.deepEqual(
      pages.map(({ length }) => length),
      [3, 3, 1],
    )
    assert.deepEqual(new Set(pages.flat()), made)
  })

  test('200: by state, where a deleted session has the state PURGED and no other', async () => {
    const own = await fixture.newHost({ settings: { retentionSeconds: 3_600 } })
    const [open, won, lost, erased] = [await own.create(), await own.create(), await own.create(), await own.create()]
    await own.outcome(won.sessionId)
    await own.outcome(lost.sessionId, 'not_enrolled')
    await own.outcome(erased.sessionId)
    await own.call('DELETE', `/v2/verification-session/${erased.sessionId}`)
    for (const [state, expected] of [
      ['CREATED', [open]],
      ['SUCCESS', [won]],
      ['FAILED', [lost]],
      ['PURGED', [erased]],
      ['EXPIRED', []],
    ] as const)
      assert.deepEqual(idsOf(await list(own, { state })), idsOf({ items: [...expected] }), state)
    passSeconds(3_600)
    assert.deepEqual(idsOf(await list(own, { state: 'SUCCESS' })), [], 'its retention has passed')
    assert.equal((await list(own, { state: 'PURGED' })).count, 3)
  })

  test('200: since a moment and until another, also with a cursor', async () => {
    const own = await fixture.newHost()
    const made: { sessionId: string; at: string }[] = []
    for (let n = 0; n < 5; n++) {
      made.push({ sessionId: (await own.create()).sessionId, at: now().toISOString() })
      passSeconds(60)
    }
    const [first, second, third, fourth, fifth] = made
    assert.ok(first && second && third && fourth && fifth)
    const found = async (query: Record<string, string | number>) => idsOf(await list(own, query))
    assert.deepEqual(await found({ since: third.at }), idsOf({ items: [fifth, fourth, third] }))
    assert.deepEqual(await found({ until: third.at }), idsOf({ items: [second, first] }))
    assert.deepEqual(await found({ since: second.at, until: fifth.at }), idsOf({ items: [fourth, third, second] }))
    assert.deepEqual(await found({ since: now().toISOString() }), [])
    const page = await list(own, { since: second.at, until: fifth.at, limit: 2 })
    assert.deepEqual(idsOf(page), idsOf({ items: [fourth, third] }))
    const next = await list(own, { since: second.at, until: fifth.at, limit: 2, cursor: page.nextCursor })
    assert.deepEqual([idsOf(next), next.nextCursor], [idsOf({ items: [second] }), null])
  })

  test('nobody sees another tenant’s sessions, those of the other mode, or age sessions', async () => {
    const own = await fixture.newHost()
    const { sessionId } = await own.create()
    const live = await fixture.newHost({ livemode: true, settings: { clientCredentials: 'never' } })
    const liveBody = { callback: { url: 'https://shop.example/hook' } }
    const liveSession = await live.create('ENROLL', liveBody)
    const both = await fixture.sibling(own, { livemode: true, scopes: ['verify:read', 'verify:write'] })
    const ageHost = await fixture.sibling(own, { scopes: ['age:read', 'age:write'] })
    const aged = { redirectUrl: 'https://shop.example/back', ageThreshold: 30 }
    assert.equal((await ageHost.call('POST', '/session', aged)).statusCode, 201)
    assert.deepEqual(idsOf(await list(own)), [sessionId])
    assert.deepEqual(idsOf(await list(live)), [liveSession.sessionId])
    assert.equal((await both.call('GET', LIST)).statusCode, 401, 'a live key needs client credentials')
    assert.equal((await ageHost.call('GET', '/sessions')).json().count, 1)
    const page = await list(own, { limit: 1 })
    assert.equal(page.nextCursor, null)
    const cursor = Buffer.from(`${Date.parse('9999-01-01')}:${sessionId}`).toString('base64url')
    assert.deepEqual(idsOf(await list(host, { cursor, since: now().toISOString() })), [], 'a cursor opens nothing')
  })

  test('400: a wrong parameter is named', async () => {
    for (const [query, pointer] of [
      ['limit=0', '/query/limit'],
      ['limit=201', '/query/limit'],
      ['cursor=bm9wZQ', '/query/cursor'],
      ['state=READY', '/query/state'],
      ['since=yesterday', '/query/since'],
      ['until=2026-13-01T00:00:00Z', '/query/until'],
      ['since=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z', '/query/until'],
      ['metadata=%7B%7D', '/query/metadata'],
    ] as const) {
      const refused = await host.call('GET', `${LIST}?${query}`)
      assert.equal(refused.statusCode, 400, query)
      assert.deepEqual([refused.json().code, refused.json().details[0].pointer], ['VALIDATION_FAILED', pointer], query)
    }
  })

  test('401 and 403 as at the other calls of this area', async () => {
    const missing = await host.call('GET', LIST, undefined, { 'x-api-key': undefined })
    assertError(missing, 401, 'MISSING_API_KEY', 'Missing API key')
    const wrong = await host.call('GET', LIST, undefined, { 'x-api-key': 'nonsense' })
    assert.equal(wrong.body, '{"statusCode":401,"message":"Invalid API key"}')
    const writer = await fixture.sibling(host, { scopes: ['verify:write'] })
    const denied = await writer.call('GET', LIST)
    assertError(denied, 403, 'SCOPE_DENIED', 'This API key lacks the scope verify:read')
    const live = await fixture.newHost({ livemode: true, settings: {} })
    const refused = await live.call('GET', LIST)
    assertError(refused, 401, 'INVALID_CLIENT_CREDENTIALS', refused.json().message)
    assert.match(refused.json().message, /^Client credentials are missing: /)
    const client = await fixture.harness.wire.keys.clients.create(live.tenantId, {
      ...{ livemode: true, name: 'shop', publicKeys: [] },
    })
    const basic = Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')
    const allowed = await live.call('GET', LIST, undefined, { authorization: `Basic ${basic}` })
    assert.deepEqual([allowed.statusCode, allowed.json()], [200, { items: [], count: 0, nextCursor: null }])
  })
})
