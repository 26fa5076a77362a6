import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { assertError } from '../testing/harness.ts'
import { createAgeHost, LEAST } from './testing/fixture.ts'

const { fixture, host } = await createAgeHost()

const unknown = [404, 'NOT_FOUND', 'There is no session with this token'] as const

describe('tenants and modes are separate', () => {
  test('the token of another tenant or of the other mode is unknown to every operation', async () => {
    const { token, sessionId } = await host.create({ metadata: { order: 'A-7' } })
    await host.outcome(sessionId)
    const live = await fixture.sibling(host, { livemode: true })
    for (const stranger of [await fixture.newHost(), live]) {
      for (const [method, url] of [
        ['GET', `/session/${token}/result`],
        ['GET', `/session/${token}/result?wait=1`],
        ['GET', `/session/${token}`],
        ['POST', `/session/${token}/cancel`],
        ['DELETE', `/session/${token}`],
      ] as const) {
        assertError(await stranger.call(method, url), ...unknown)
      }
      for (const query of ['', '?metadata=%7B%22order%22%3A%22A-7%22%7D']) {
        const listed = await stranger.call('GET', `/sessions${query}`)
        assert.deepEqual(listed.json(), { items: [], count: 0, nextCursor: null })
      }
    }
    assert.equal((await host.result(token)).flowStatus, 'COMPLETED', 'it is still there')
  })

  test('a delivery of another tenant or of the other mode is unknown to every operation', async () => {
    const { sessionId } = await host.create({ callback: { url: fixture.receiver.url } })
    await host.outcome(sessionId)
    const [{ id }] = (await host.call('GET', `/webhooks/deliveries?sessionId=${sessionId}`)).json().items
    for (const stranger of [await fixture.newHost(), await fixture.sibling(host, { livemode: true })]) {
      const listed = await stranger.call('GET', `/webhooks/deliveries?sessionId=${sessionId}`)
      assert.deepEqual(listed.json(), { items: [], count: 0, nextCursor: null })
      for (const [method, url] of [
        ['GET', `/webhooks/deliveries/${id}`],
        ['POST', `/webhooks/deliveries/${id}/replay`],
      ] as const) {
        const missing = await stranger.call(method, url)
        assertError(missing, 404, 'NOT_FOUND', 'There is no webhook delivery with this id')
      }
      const since = new Date(0).toISOString()
      const replayed = await stranger.call('POST', '/webhooks/replay', { since, state: 'all' })
      assert.deepEqual(replayed.json(), { count: 0, continueFrom: null })
    }
  })
})

describe('two capabilities', () => {
  test('a session id reads no result anywhere, and a token launches nothing', async () => {
    const { token, sessionId } = await host.create()
    await host.outcome(sessionId, { faceAge: 44 })
    for (const [method, url] of [
      ['GET', `/session/${sessionId}/result`],
      ['GET', `/session/at_${sessionId}/result`],
      ['GET', `/session/${sessionId}`],
      ['POST', `/session/${sessionId}/cancel`],
      ['DELETE', `/session/${sessionId}`],
    ] as const) {
      assertError(await host.call(method, url), ...unknown)
    }
    const { device } = await fixture.newDevice(token)
    await assert.rejects(device.open(), (error) => error instanceof Error && 'status' in error && error.status === 400)
    assert.equal((await host.call('POST', `/test/sessions/${token}/outcome`, {})).statusCode, 404)
    const prefix = Buffer.from(sessionId.replaceAll('-', ''), 'hex')
    const forged = `at_${Buffer.concat([prefix, randomBytes(32)]).toString('base64url')}`
    assertError(await host.call('GET', `/session/${forged}/result`), ...unknown)
  })

  test('the reply of an ended session to a holder of its launch URL has no result and no token', async () => {
    const { token, sessionId, expiresAt } = await host.create({
      metadata: { order: 'MARKED' },
      callback: { url: fixture.receiver.url },
    })
    await host.outcome(sessionId, { faceAge: 44 })
    const { device } = await fixture.newDevice(sessionId)
    const { sealKey, ...reply } = await device.open()
    assert.deepEqual(Object.keys(sealKey).sort(), ['crv', 'kty', 'x', 'y'])
    assert.deepEqual(reply, {
      sessionId,
      state: 'COMPLETED',
      role: 'viewer',
      attempt: 0,
      attemptsLeft: 3,
      expiresAt,
      flowStatus: 'COMPLETED',
      errors: [],
      redirectUrl: `https://shop.example/back?state=7&sessionId=${sessionId}&flowStatus=COMPLETED`,
      livemode: false,
      requirements: ['face'],
      locale: 'en',
      consentVersion: '1',
      brand: null,
      embedOrigins: [],
      alternativeUrl: null,
      links: { alternative: null, privacy: null, support: null },
      ages: { age: 30, estimate: null },
      mayExtend: false,
      document: null,
      host: 'shop.example',
      handoff: true,
      eventsTravel: true,
      type: 'AGE',
      verification: null,
    })
    assert.ok(!JSON.stringify(reply).includes(token))
  })

  test('the redirect has the session id, the flow status and what the host put there, never a result', async () => {
    const redirectUrl = 'https://shop.example/back?state=a%20b&flowStatus=FORGED&sessionId=1&x=%C3%A9#top'
    for (const [outcome, flowStatus] of [
      [{ outcome: 'AGE_BELOW_THRESHOLD', risk: 'CRITICAL' }, 'COMPLETED'],
      [{ errors: [1] }, 'COMPLETED'],
    ] as const) {
      const { sessionId } = await host.create({ redirectUrl, metadata: { __test: outcome } })
      const { redirectUrl: target } = await fixture.visit(sessionId)
      const url = new URL(String(target))
      assert.deepEqual(
        [...url.searchParams],
        [
          ['state', 'a b'],
          ['x', 'é'],
          ['sessionId', sessionId],
          ['flowStatus', flowStatus],
        ],
      )
      assert.deepEqual([url.origin, url.pathname, url.hash], ['https://shop.example', '/back', '#top'])
    }
  })
})

describe('marked values', () => {
  const MARK = 'MARKED7f3a'
  const marked = () => ({
    redirectUrl: `https://shop.example/${MARK}-redirect?state=${MARK}-state`,
    callback: { url: `${fixture.receiver.origin}/${MARK}-path`, headers: { 'X-Secret': `${MARK}-header` } },
    metadata: { [`${MARK}-name`]: `${MARK}-value`, nested: { name: `${MARK}-nested` } },
    facialAgeEstimationReturnFormat: 'both',
  })

  test('[C-007] the database holds nothing of a session in clear text: not while it is open, not when it has ended', async () => {
    const created = await host.create(marked())
    const user = await fixture.newDevice(created.sessionId)
    await user.device.open()
    await user.device.consent(true)
    const ended = await host.create(marked())
    await fixture.visit(ended.sessionId, { ageYears: 42 })
    const { sessionStatus, result } = await host.result(ended.token)
    assert.equal(sessionStatus, 'AGE_ABOVE_THRESHOLD')
    await fixture.harness.wire.webhooks.dispatcher.tick()
    const tables = await fixture.dump()
    const secrets = [
      MARK,
      created.token,
      ended.token,
      sessionStatus,
      'facialAgeEstimation',
      'riskEvaluation',
      'deviceKey',
    ]
    const writings = secrets.flatMap((secret) => [
      secret,
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret).toString('base64').slice(0, -4),
    ])
    for (const [table, content] of tables)
      for (const text of writings) assert.ok(!content.includes(text), `${table} holds ${text}`)
    assert.ok(result.facialAgeEstimation?.exact)
    const about = [...tables].filter(([, content]) => content.includes(ended.sessionId)).map(([table]) => table)
    assert.deepEqual(
      about.map((table) => table.replace(/_default$|_\d{8}$/, '')),
      ['session_secrets', 'sessions', 'stream_events', 'webhook_deliveries'],
      'and nothing about it is anywhere else',
    )
    const { rows } = await fixture.harness.database.query(
      'select progress from session_secrets where session_id = $1',
      [ended.sessionId],
    )
    assert.deepEqual(rows, [{ progress: null }], 'the log of the steps goes with the end')
  })

  test('no log line has a marked value, a token, a key or a header, whatever happened', async () => {
    const secret = { authorization: `Bearer ${MARK}-bearer`, 'idempotency-key': `${MARK}-once` }
    await host.call('POST', '/session', { ...LEAST, ...marked() }, secret)
    const created = await host.create(marked())
    await host.call('POST', '/session', { ...LEAST, ...marked(), locale: `${MARK} locale` })
    await host.call('POST', '/session', { ...LEAST, ...marked(), redirectUrl: `ftp://${MARK}.example` })
    await host.call('GET', `/sessions?metadata=${encodeURIComponent(`{"${MARK}-name":"${MARK}-value"}`)}`)
    await host.call('GET', `/session/${created.token}x/result`)
    await fixture.visit(created.sessionId, { ageYears: 42 })
    fixture.receiver.answer((response) => void response.writeHead(500).end(`${MARK}-answer`))
    await fixture.harness.wire.webhooks.dispatcher.tick()
    await host.call('POST', `/session/${created.token}/cancel`)
    const broken = await host.create(marked())
    await fixture.harness.database.query('alter table webhook_queue rename to webhook_queue_away')
    assert.equal((await host.call('POST', `/session/${broken.token}/cancel`)).statusCode, 500)
    await fixture.harness.database.query('alter table webhook_queue_away rename to webhook_queue')
    const log = fixture.harness.logged()
    assert.match(log, /"operation":"createSession","status":201/)
    assert.match(log, /"operation":"launchSubmit","status":200/)
    for (const text of [MARK, created.token, broken.token, host.key, host.key.slice(12, 40), 'x-secret', 'AGE_ABOVE']) {
      const line = log.split('\n').find((one) => one.includes(text))
      assert.equal(line, undefined)
    }
  })
})
