import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type DocumentStep, LAUNCH_LIMITS, type LaunchState } from '@ostiary/contract'
import { sealPayload } from '@ostiary/crypto'
import { seededRandom, simulateDocument } from '@ostiary/device/simulated'
import { createAgeHost, readyDevice } from '../age/testing/fixture.ts'
import { assertError } from '../testing/harness.ts'
import { createPage, okOf, type Page } from './testing/page.ts'

const { fixture, host } = await createAgeHost({}, { settings: { documentReuseCheck: true } })

const ALONE = { requirements: ['identity_document'], documentAgeThreshold: 18, sessionExpiry: 7_200 } as const
const SUBMIT = 'document/submit'

/** A page at the document step. */
async function pageAtDocument() {
  // All tests call from one address: the rate limit recovers.
  fixture.harness.clock.advance(120_000)
  const created = await host.create(ALONE)
  const page = await createPage(fixture, created.sessionId)
  await page.open()
  assert.equal((await page.consent()).state, 'DOC_ACTIVE')
  return { created, page }
}

function factsFor(step: DocumentStep) {
  const facts = simulateDocument({}, { step, ageYears: 40, random: seededRandom(1), locale: 'en', capture: undefined })
  return 'failure' in facts ? assert.fail('nothing was read') : facts
}

const sealedBy = (page: Page, payload: object) => sealPayload(page.sealKey(), page.sessionId, payload)

describe('limits of the two calls', () => {
  for (const [name, body, status] of [
    ['document', {}, 200],
    [SUBMIT, { sealed: 'nothing' }, 409],
  ] as const)
    test(`${name}: 429 after sixty calls of one session in a minute, with the time to wait`, async () => {
      const { page } = await pageAtDocument()
      // Opening and consent were the first two.
      for (let sent = 2; sent < 60; sent++) await page.failure(-21)
      const refused = await page.call(name, body)
      assertError(refused, 429, 'RATE_LIMITED', 'Too many requests', { retryAfter: 1 })
      fixture.harness.clock.advance(1_000)
      assert.equal((await page.call(name, body)).statusCode, status)
    })

  test('413 for a sealed text that is too large, and for a body that is', async () => {
    const { page } = await pageAtDocument()
    await page.call('document')
    for (const chars of [LAUNCH_LIMITS.sealedBytes + 1, LAUNCH_LIMITS.bodyBytes + 1]) {
      const refused = await page.call(SUBMIT, { sealed: 'a'.repeat(chars) })
      assert.deepEqual([refused.statusCode, refused.json().code], [413, 'PAYLOAD_TOO_LARGE'], `${chars}`)
    }
  })

  test('401 without the device’s signature, and for one with a number that was used', async () => {
    const { page } = await pageAtDocument()
    for (const name of ['document', SUBMIT]) {
      const asked = name === SUBMIT ? { sealed: 'nothing' } : {}
      assert.equal((await page.call(name, asked, { proof: null })).statusCode, 401)
      const repeated = await page.call(name, asked, { claims: { counter: 1 } })
      assert.equal(repeated.statusCode, 401)
    }
  })
})

test('of submits that arrive at the same moment one is judged', async () => {
  const { page } = await pageAtDocument()
  const step = okOf<DocumentStep>(await page.call('document'))
  const shared = { v: 1, kind: 'document', sessionId: page.sessionId, nonce: step.nonce, attempt: step.attempt }
  const log = { seq: 1, hash: 'h'.repeat(43) }
  // Without a log it is an attack, which ends the session.
  const sealed = await sealedBy(page, { ...shared, ...factsFor(step), log })
  const replies = await Promise.all([1, 2, 3, 4].map(() => page.call(SUBMIT, { sealed })))
  const judged = replies.filter(({ statusCode }) => statusCode === 200)
  assert.equal(judged.length, 1)
  assert.equal(judged[0]?.json<LaunchState>().state, 'COMPLETED')
  for (const { statusCode } of replies) assert.ok([200, 401, 409].includes(statusCode), `${statusCode}`)
})

test('no log line and no table has a marked value of the two calls, whatever came of them', async () => {
  const MARK = 'MARKED4c1d'
  const { page } = await pageAtDocument()
  const step = okOf<DocumentStep>(await page.call('document'))
  const shared = { v: 1, kind: 'document', sessionId: page.sessionId, nonce: step.nonce, attempt: step.attempt }
  const log = { seq: 1, hash: 'h'.repeat(43) }
  const facts = { ...shared, ...factsFor(step), log }
  await page.call('document', { name: `${MARK}-field` })
  await page.call('document', {}, { headers: { 'x-device-proof': `${MARK}-proof` } })
  await page.call(SUBMIT, { sealed: `${MARK}-sealed` })
  await page.call(SUBMIT, { sealed: `${MARK}-sealed`, number: `${MARK}-number` })
  await page.send(SUBMIT, `{"sessionId":"${MARK}-session","sealed":"x"}`)
  await page.send(SUBMIT, `{"${MARK}-broken`)
  for (const change of [
    { number: `${MARK}-number` },
    { reader: { id: `${MARK}-reader`, hash: 1 } },
    { consent: { version: '1', locale: `${MARK}-locale` } },
    { match: { score: 1, capture: `${MARK}-capture` } },
  ]) {
    const refused = await page.call(SUBMIT, { sealed: await sealedBy(page, { ...facts, ...change }) })
    assert.deepEqual([refused.statusCode, refused.json().code], [400, 'INVALID_PAYLOAD'], JSON.stringify(change))
  }
  // The client of the product, whose document counts.
  const reuse = 'MARKEDuseA4'
  const created = await host.create({ ...ALONE, documentAgeReturnFormat: 'both' })
  const user = await fixture.newDevice(created.sessionId)
  await readyDevice(user)
  const begun = await user.device.documentStep()
  await user.device.logEvent('document_shown', 1)
  await user.clock.pass(2_000)
  await user.device.logEvent('document_read', 1)
  const reader = { id: `${MARK}-reader`, hash: 'x'.repeat(43) }
  const metadata = { name: `${MARK}-name`, picture: `${MARK}-picture` }
  assert.deepEqual((await user.device.submitDocument({ ...factsFor(begun), reader, metadata })).errors, [-20])
  const again = await user.device.documentStep()
  const done = await user.device.submitDocument({ ...factsFor(again), metadata, reuse })
  assert.equal(done.state, 'COMPLETED')
  const lines = fixture.harness.logged()
  assert.match(lines, /"operation":"launchDocument","status":200/)
  assert.match(lines, /"operation":"launchDocumentSubmit","status":200/)
  assert.match(lines, /"operation":"launchDocumentSubmit","status":400/)
  const { reuseKey = assert.fail('no key') } = again
  for (const text of [MARK, reuse, reuseKey, step.nonce, again.nonce, 'passport', 'AGE_ABOVE'])
    assert.equal(
      lines.split('\n').find((line) => line.includes(text)),
      undefined,
      text,
    )
  for (const [table, content] of await fixture.dump())
    for (const text of [MARK, Buffer.from(MARK).toString('hex'), reuseKey])
      assert.ok(!content.includes(text), `${table} holds ${text}`)
})

test('the host’s other way is an https address and nothing else', async () => {
  const { service } = fixture.harness.wire.settings
  for (const url of [
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,x',
    'http://shop.example/',
    '//shop.example/',
    '/other',
    'https://user:secret@shop.example/',
    'https://user@shop.example/',
    'https://',
    '',
  ])
    await assert.rejects(service.set(host.tenantId, { alternativeUrl: url }), { fault: 'invalid_request' }, url)
  await service.set(host.tenantId, { alternativeUrl: 'https://shop.example/other?a="><script>' })
  const { sessionId } = await host.create(ALONE)
  const opened = await (await createPage(fixture, sessionId)).open()
  assert.equal(new URL(opened.alternativeUrl ?? '').origin, 'https://shop.example')
})
