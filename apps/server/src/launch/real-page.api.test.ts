/** What a page with a camera and real models needs from the service, beside what every client needs. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LOCALES, RELEASED_MODELS, SIMULATED_MODEL } from '@ostiary/contract'
import { makeSubmission, reachChallenge, send } from './testing/capture.ts'
import { createLaunchFixture } from './testing/fixture.ts'
import { createPage } from './testing/page.ts'

const fixture = await createLaunchFixture()
const liveKey = await fixture.liveKey()

const BRAND = { name: 'Fjord Rentals', logo: null, primary: '#0b57d0', background: '#ffffff' }
const SHOP = 'https://shop.example'
const LOCAL = 'http://localhost:3000'

describe('open tells the page', () => {
  const lookOf = async (key?: string) => {
    const { sessionId } = await fixture.create({}, key)
    const { brand, embedOrigins } = await (await createPage(fixture, sessionId)).open()
    return { brand, embedOrigins }
  }

  test('no brand when the tenant has set none', async () => {
    assert.deepEqual(await lookOf(), { brand: null, embedOrigins: [] })
  })

  test('the tenant’s brand and the origins that may get its progress: for live sessions only those with https', async () => {
    await fixture.withSettings({ brand: BRAND, embedOrigins: [SHOP, LOCAL] }, async () => {
      assert.deepEqual(await lookOf(), { brand: BRAND, embedOrigins: [SHOP, LOCAL] })
      assert.deepEqual(await lookOf(liveKey), { brand: BRAND, embedOrigins: [SHOP] })
    })
  })

  test('the current brand, also for a session that is older than it and for one that has ended', async () => {
    const { sessionId } = await fixture.create()
    const page = await createPage(fixture, sessionId)
    assert.equal((await page.open()).brand, null)
    await fixture.withSettings({ brand: { name: 'Fjord' } }, async () => {
      const brand = { name: 'Fjord', logo: null, primary: null, background: null }
      assert.deepEqual((await page.open()).brand, brand)
      await page.cancel()
      assert.deepEqual((await (await createPage(fixture, sessionId)).open()).brand, brand)
    })
  })
})

describe('a capture by', () => {
  const MODELS = {
    'a released set of models': RELEASED_MODELS.at(-1),
    'the simulated model': SIMULATED_MODEL,
    'an unknown model': { id: 'home-made', hash: 'B'.repeat(43) },
    'an unknown model under a released name': { id: RELEASED_MODELS.at(-1)?.id ?? '', hash: 'B'.repeat(43) },
  } as const

  async function submit(model: { id: string; hash: string } | undefined, key?: string) {
    assert.ok(model)
    const { sessionId, token } = await fixture.create({}, key)
    const page = await createPage(fixture, sessionId)
    const challenge = await reachChallenge(page)
    const made = await makeSubmission(page, challenge, { payload: (payload) => ({ ...payload, model }) })
    // The clock must advance by the length of the capture: a capture that arrives sooner was not filmed.
    fixture.harness.clock.advance(10_000)
    const { errors } = (await send(page, made)).json()
    const { sessionStatus, riskEvaluation } = await fixture.result(token)
    return { errors, sessionStatus, flags: riskEvaluation.flags }
  }
  const ABOVE = { errors: [], sessionStatus: 'AGE_ABOVE_THRESHOLD', flags: [] }
  // The page sends browser data with its captures; these have none.
  const NO_PAGE = { ...ABOVE, flags: ['BH_NO_BROWSER_DATA'] }
  const UNKNOWN = { errors: [-20], sessionStatus: 'AGE_UNKNOWN', flags: [] }

  const CASES: readonly [keyof typeof MODELS, 'test' | 'live', object][] = [
    ['a released set of models', 'test', NO_PAGE],
    ['a released set of models', 'live', NO_PAGE],
    ['the simulated model', 'test', ABOVE],
    ['the simulated model', 'live', UNKNOWN],
    ['an unknown model', 'test', UNKNOWN],
    ['an unknown model', 'live', UNKNOWN],
    ['an unknown model under a released name', 'live', UNKNOWN],
  ]
  for (const [name, mode, expected] of CASES) {
    const counts = expected !== UNKNOWN ? 'counts' : 'counts for nothing (-20)'
    test(`${name} ${counts} in a session of a ${mode} key`, async () => {
      assert.deepEqual(await submit(MODELS[name], mode === 'live' ? liveKey : undefined), expected)
    })
  }

  test('an unknown model raises BH_MODEL_MISMATCH in the result', async () => {
    const { sessionId, token } = await fixture.create()
    const page = await createPage(fixture, sessionId)
    const challenge = await reachChallenge(page)
    const model = MODELS['an unknown model']
    const made = await makeSubmission(page, challenge, { payload: (payload) => ({ ...payload, model }) })
    fixture.harness.clock.advance(10_000)
    await send(page, made)
    await page.cancel()
    assert.deepEqual((await fixture.result(token)).riskEvaluation.flags, ['BH_MODEL_MISMATCH', 'BH_NO_BROWSER_DATA'])
  })

  test('a capture by released models is refused when it arrives sooner than it can be filmed', async () => {
    const { sessionId, token } = await fixture.create()
    const page = await createPage(fixture, sessionId)
    const challenge = await reachChallenge(page)
    const model = RELEASED_MODELS.at(-1)
    assert.ok(model)
    await send(page, await makeSubmission(page, challenge, { payload: (payload) => ({ ...payload, model }) }))
    const { errors, riskEvaluation } = await fixture.result(token)
    assert.deepEqual(
      [errors, riskEvaluation.flags],
      [
        [1, 2],
        ['BH_TOO_FAST', 'BH_NO_BROWSER_DATA'],
      ],
    )
  })
})

describe('a pinned challenge', () => {
  const movements = ['look_up', 'turn_left', 'blink'] as const
  const metadata = { order: 'A-7', __test: { challenge: movements, times: 'fixed' } }

  test('is used in every try, and the capture decides the verdict', async () => {
    const { sessionId, token } = await fixture.create({ metadata })
    const page = await createPage(fixture, sessionId)
    const first = await reachChallenge(page)
    assert.deepEqual(
      first.steps.map(({ movement }) => movement),
      movements,
    )
    await page.failure(-12)
    const second = await page.challenge()
    assert.deepEqual([second.steps, second.sampleAtMs], [first.steps, first.sampleAtMs])
    assert.notEqual(second.nonce, first.nonce, 'a recording of the calls is worth nothing')
    const young = await makeSubmission(page, second, {}, { ageYears: 19 })
    assert.equal((await send(page, young)).json().flowStatus, 'COMPLETED')
    const result = await fixture.result(token)
    assert.deepEqual([result.sessionStatus, result.assurance.level], ['AGE_BELOW_THRESHOLD', 'estimate'])
    assert.deepEqual(result.metadata, metadata)
  })

  test('can have random times', async () => {
    const times = new Set<number | undefined>()
    for (let count = 0; count < 4; count++) {
      const { sessionId } = await fixture.create({ metadata: { __test: { challenge: movements } } })
      const { steps } = await reachChallenge(await createPage(fixture, sessionId))
      assert.deepEqual(
        steps.map(({ movement }) => movement),
        movements,
      )
      times.add(steps[2]?.atMs)
    }
    assert.ok(times.size > 1)
  })

  test('is ordinary metadata for a live key: the challenge stays random', async () => {
    const asked = new Set<string>()
    for (let count = 0; count < 6; count++) {
      const { sessionId } = await fixture.create({ metadata }, liveKey)
      const { steps } = await reachChallenge(await createPage(fixture, sessionId))
      asked.add(JSON.stringify(steps))
    }
    assert.ok(asked.size > 4)
  })
})

test('the list of languages is public, and says who has read their texts', async () => {
  const { statusCode, headers, ...reply } = await fixture.harness.inject('/v2/locales')
  assert.deepEqual([statusCode, headers['cache-control']], [200, 'public, max-age=3600'])
  const { default: fallback, items } = reply.json()
  assert.equal(fallback, 'en')
  assert.equal(items.length, LOCALES.length)
  assert.equal(items.length, 44)
  const english = { tag: 'en', name: 'English', english: 'English', direction: 'ltr' }
  assert.deepEqual(items[0], { ...english, available: true, review: 'machine_draft' })
  const find = (tag: string) => items.find((item: { tag: string }) => item.tag === tag)
  assert.deepEqual([find('ar').direction, find('ar').available], ['rtl', true])
  const irish = { tag: 'ga', name: 'Gaeilge', english: 'Irish', direction: 'ltr' }
  assert.deepEqual(find('ga'), { ...irish, available: true, review: 'machine_draft' })
})
