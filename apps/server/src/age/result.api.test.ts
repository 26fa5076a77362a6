import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AGE_STATUSES } from '@ostiary/contract'
import { assertError } from '../testing/harness.ts'
import {
  createAgeHost,
  documentShown,
  endedBody,
  type Host,
  LEAST,
  NOTHING_JUDGED,
  openBody,
} from './testing/fixture.ts'

const { fixture, host } = await createAgeHost()

const BOTH_FORMATS = { documentAgeReturnFormat: 'both', facialAgeEstimationReturnFormat: 'both' } as const
const BOTH_STEPS = { ...BOTH_FORMATS, requirements: ['face', 'identity_document'] } as const
const SANDBOX = { level: 'sandbox', method: 'test mode' } as const

/** Creates a session, ends it in the sandbox and reads its result. */
async function ended(body: object, outcome: Parameters<Host['outcome']>[1], who = host) {
  const created = await who.create(body)
  await who.outcome(created.sessionId, outcome)
  return { created, result: await who.result(created.token) }
}

describe('200', () => {
  test('[C-056] [C-034] [C-035] [C-047] [C-048] an ended session: the whole result object, field by field', async () => {
    const metadata = { order: { id: 'A-7', lines: [1, 2] }, vip: true }
    const created = await host.create({ ...BOTH_STEPS, metadata, documentAgeThreshold: 18, faceMatchThreshold: 0.8 })
    fixture.harness.clock.advance(42_000)
    await host.outcome(created.sessionId, { faceAge: 33.7, documentAge: 35.9, faceMatchScore: 0.93 })
    const answer = await host.call('GET', `/session/${created.token}/result`)
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.equal(answer.headers['retry-after'], undefined)
    assert.deepEqual(answer.json(), {
      token: created.token,
      sessionId: new URL(created.launchUrl).searchParams.get('sessionId'),
      sessionStatus: 'AGE_ABOVE_THRESHOLD',
      status: 'AGE_ABOVE_THRESHOLD',
      flowStatus: 'COMPLETED',
      result: {
        age: 35,
        confidenceScore: 0.93,
        faceMatch: true,
        documentAge: { thresholdResult: 'AGE_ABOVE_THRESHOLD', exact: 35 },
        facialAgeEstimation: { thresholdResult: 'AGE_ABOVE_THRESHOLD', exact: 33.7 },
      },
      thresholds: { ageThreshold: 30, compareThreshold: 0.8, faceMatchThreshold: 0.8, documentAgeThreshold: 18 },
      metadata,
      riskEvaluation: {
        score: 0,
        level: 'LOW',
        recommendation: 'ALLOW',
        flags: [],
        signals: { behavioral: null, browser: null },
        policyVersion: '4',
      },
      document: documentShown('2026-11-15T12:00:42.000Z'),
      errors: [],
      errorDetails: [],
      outcome: 'SUCCEEDED',
      assurance: SANDBOX,
      createdAt: '2026-11-15T12:00:00.000Z',
      expiresAt: '2026-11-15T12:15:00.000Z',
      endedAt: '2026-11-15T12:00:42.000Z',
      consent: null,
      livemode: false,
    })
  })

  test('an open session has a result too: no flow status, an unknown age, and Retry-After', async () => {
    const created = await host.create({ metadata: { order: 'A-8' } })
    const answer = await host.call('GET', `/session/${created.token}/result`)
    assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [200, '2'])
    assert.deepEqual(answer.json(), { ...openBody(created), metadata: { order: 'A-8' } })
  })

  test('[C-036] [C-037] [C-044] the four statuses, always the same under both names', async () => {
    const seen = new Set<string>()
    for (const outcome of AGE_STATUSES) {
      const { created, result } = await ended({}, { outcome })
      const verdict =
        outcome === 'AGE_UNKNOWN'
          ? { outcome: 'FAILED' as const, errors: [-19], errorDetails: [{ code: -19, name: 'ATTEMPTS_EXCEEDED' }] }
          : {
              outcome: 'SUCCEEDED' as const,
              assurance: SANDBOX,
              result: { facialAgeEstimation: { thresholdResult: outcome } },
            }
      const expected = { sessionStatus: outcome, status: outcome, flowStatus: 'COMPLETED' as const, ...verdict }
      assert.deepEqual(result, endedBody(created, expected))
      seen.add(result.status)
    }
    assert.deepEqual([...seen].sort(), [
      'AGE_ABOVE_THRESHOLD',
      'AGE_AT_THRESHOLD',
      'AGE_BELOW_THRESHOLD',
      'AGE_UNKNOWN',
    ])
  })

  test('[C-038] the three flow statuses of an ended flow', async () => {
    const completed = await ended({}, {})
    const cancelled = await host.create()
    await host.call('POST', `/session/${cancelled.token}/cancel`)
    const expired = await host.create({ sessionExpiry: 60 })
    fixture.harness.clock.advance(60_001)
    assert.equal(completed.result.flowStatus, 'COMPLETED')
    assert.equal((await host.result(cancelled.token)).flowStatus, 'CANCELLED')
    assert.equal((await host.result(expired.token)).flowStatus, 'EXPIRED')
  })

  test('[C-049] errors are always an array of numbers, empty when there are none', async () => {
    assert.deepEqual((await ended({}, {})).result.errors, [])
    const { created, result } = await ended({}, { errors: [-12, -19] })
    assert.deepEqual(
      result,
      endedBody(created, {
        flowStatus: 'COMPLETED',
        outcome: 'FAILED',
        errors: [-12, -19],
        errorDetails: [
          { code: -12, name: 'NO_FACE' },
          { code: -19, name: 'ATTEMPTS_EXCEEDED' },
        ],
      }),
    )
  })
})

describe('ages', () => {
  test('[C-039] result.age is the whole age of the step that decided, and absent where only thresholds were asked for', async () => {
    const faceExact = { facialAgeEstimationReturnFormat: 'exact' }
    assert.equal((await ended(faceExact, { faceAge: 41.9 })).result.result.age, 41)
    assert.equal(
      (await ended(BOTH_STEPS, { faceAge: 41.9, documentAge: 44.2, faceMatchScore: 1 })).result.result.age,
      44,
    )
    const onlyFace = { ...BOTH_STEPS, documentAgeReturnFormat: 'threshold' }
    assert.equal((await ended(onlyFace, { faceAge: 41.9, documentAge: 44, faceMatchScore: 1 })).result.result.age, 41)
    assert.ok(!('age' in (await ended({}, { faceAge: 41.9 })).result.result))
    assert.ok(!('age' in (await ended(faceExact, { faceAge: 41.9, errors: [1] })).result.result), 'no verdict, no age')
  })

  test('a tenant may have it always', async () => {
    const always = await fixture.newHost({ settings: { alwaysReturnAge: true } })
    assert.equal((await ended({}, { faceAge: 41.9 }, always)).result.result.age, 41)
  })

  test('[C-022] [C-042] the age in the document is checked against documentAgeThreshold, not against the face’s', async () => {
    for (const [documentAge, expected] of [
      [17.99, 'AGE_BELOW_THRESHOLD'],
      [18, 'AGE_AT_THRESHOLD'],
      [18.99, 'AGE_AT_THRESHOLD'],
      [19, 'AGE_ABOVE_THRESHOLD'],
    ] as const) {
      const body = { requirements: ['identity_document'], ageThreshold: 30, documentAgeThreshold: 18 }
      const { created, result } = await ended(body, { documentAge })
      assert.deepEqual(
        result,
        endedBody(created, {
          sessionStatus: expected,
          status: expected,
          flowStatus: 'COMPLETED',
          result: { documentAge: { thresholdResult: expected } },
          thresholds: { ...openBody(created).thresholds, documentAgeThreshold: 18 },
          document: documentShown(openBody(created).createdAt),
          outcome: 'SUCCEEDED',
          assurance: SANDBOX,
        }),
      )
    }
    const { result } = await ended({ requirements: ['identity_document'] }, { documentAge: 29 })
    assert.equal(result.sessionStatus, 'AGE_BELOW_THRESHOLD', 'without one, ageThreshold counts')
  })

  test('[C-043] [C-045] [C-046] each step shows what its own format asks for; the format both shows both', async () => {
    const document = { thresholdResult: 'AGE_ABOVE_THRESHOLD', exact: 35 } as const
    const face = { thresholdResult: 'AGE_ABOVE_THRESHOLD', exact: 33.7 } as const
    const shown = (format: string, all: { thresholdResult: string; exact: number }) =>
      format === 'both' ? all : format === 'exact' ? { exact: all.exact } : { thresholdResult: all.thresholdResult }
    for (const documentAgeReturnFormat of ['threshold', 'exact', 'both']) {
      for (const facialAgeEstimationReturnFormat of ['threshold', 'exact', 'both']) {
        const body = { ...BOTH_STEPS, documentAgeReturnFormat, facialAgeEstimationReturnFormat }
        const { result } = await ended(body, { faceAge: 33.7, documentAge: 35.9, faceMatchScore: 1 })
        const { documentAge, facialAgeEstimation } = result.result
        assert.deepEqual(documentAge, shown(documentAgeReturnFormat, document))
        assert.deepEqual(facialAgeEstimation, shown(facialAgeEstimationReturnFormat, face))
      }
    }
  })
})

describe('face and document', () => {
  test('[C-021] [C-040] [C-041] a score below faceMatchThreshold is not a match, at or above it is a match, and the result has the score', async () => {
    for (const [score, faceMatch] of [
      [0.6999, false],
      [0.7, true],
      [0.7001, true],
      [0, false],
      [1, true],
    ] as const) {
      const outcome = { faceAge: 40, documentAge: 40, faceMatchScore: score }
      const { result } = await ended({ ...BOTH_STEPS, faceMatchThreshold: 0.7 }, outcome)
      assert.deepEqual([result.result.confidenceScore, result.result.faceMatch], [score, faceMatch])
      assert.equal(result.sessionStatus, faceMatch ? 'AGE_ABOVE_THRESHOLD' : 'AGE_UNKNOWN')
      assert.deepEqual(result.errors, faceMatch ? [] : [-9])
    }
  })

  test('two different persons give no verdict, whatever their ages: the whole body', async () => {
    const { created, result } = await ended(BOTH_STEPS, { faceAge: 40, documentAge: 41, faceMatchScore: 0.2 })
    assert.deepEqual(
      result,
      endedBody(created, {
        flowStatus: 'COMPLETED',
        result: {
          confidenceScore: 0.2,
          faceMatch: false,
          documentAge: { thresholdResult: 'AGE_ABOVE_THRESHOLD', exact: 41 },
          facialAgeEstimation: { thresholdResult: 'AGE_ABOVE_THRESHOLD', exact: 40 },
        },
        document: documentShown(openBody(created).createdAt),
        outcome: 'FAILED',
        errors: [-9],
        errorDetails: [{ code: -9, name: 'FACE_NOT_MATCH' }],
      }),
    )
  })

  test('a document decides before a face, and a missing required step leaves the age unknown', async () => {
    for (const [body, outcome, expected] of [
      [{ requirements: ['face', 'identity_document'] }, { faceAge: 50, documentAge: 20, faceMatchScore: 1 }, 'BELOW'],
      [{ stepUpEnabled: true }, { faceAge: 25, documentAge: 31, faceMatchScore: 1 }, 'ABOVE'],
      [{ stepUpEnabled: true }, { faceAge: 25 }, 'UNKNOWN'],
      [{ stepUpEnabled: true }, { faceAge: 30 }, 'AT'],
      [{ requirements: ['face', 'identity_document'] }, { faceAge: 50 }, 'UNKNOWN'],
      [{ requirements: ['face', 'identity_document'] }, { documentAge: 50 }, 'UNKNOWN'],
      [{ requirements: ['face'] }, { documentAge: 50 }, 'UNKNOWN'],
    ] as const) {
      const { result } = await ended(body, outcome)
      assert.match(result.sessionStatus, new RegExp(`^AGE_${expected}`), JSON.stringify([body, outcome]))
    }
  })

  test('a face within the tenant’s margin decides nothing', async () => {
    const careful = await fixture.newHost({ settings: { faceAgeMarginYears: 5 } })
    for (const [faceAge, expected] of [
      [25, 'AGE_BELOW_THRESHOLD'],
      [25.1, 'AGE_UNKNOWN'],
      [34.9, 'AGE_UNKNOWN'],
      [35, 'AGE_ABOVE_THRESHOLD'],
    ] as const) {
      assert.equal((await ended({}, { faceAge }, careful)).result.sessionStatus, expected)
    }
  })
})

describe('?wait=', () => {
  const read = (token: string, wait: string | number) => host.call('GET', `/session/${token}/result?wait=${wait}`)

  test('answers when the flow ends', async () => {
    const created = await host.create()
    const waiting = read(created.token, 25)
    await host.outcome(created.sessionId)
    const answer = await waiting
    assert.equal(answer.json().flowStatus, 'COMPLETED')
    assert.equal(answer.headers['retry-after'], undefined)
  })

  test('answers at the deadline with the current flow, and immediately when it has ended', async () => {
    const created = await host.create()
    let isAnswered = false
    const waiting = read(created.token, 2).finally(() => {
      isAnswered = true
    })
    for (let later = 0; later < 5; later++) assert.equal((await read(created.token, 0)).statusCode, 200)
    assert.equal(isAnswered, false, 'later calls are answered, and it still waits')
    fixture.harness.clock.advance(2_000)
    const answer = await waiting
    assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [200, '2'])
    assert.deepEqual(answer.json(), openBody(created))
    await host.outcome(created.sessionId)
    assert.equal((await read(created.token, 25)).json().flowStatus, 'COMPLETED')
  })

  for (const [how, headers] of [
    ['with its key', {}],
    ['with the token alone', { 'x-api-key': undefined }],
  ] as const) {
    test(`one tenant gets a quarter of the places to wait ${how}, and others wait as before`, async () => {
      // What earlier tests read does not count any more.
      fixture.harness.clock.advance(60_000)
      const greedy = await Promise.all(Array.from({ length: 14 }, () => host.create()))
      const other = await fixture.newHost()
      const created = await other.create()
      const wait = (who: Host, token: string) => who.call('GET', `/session/${token}/result?wait=25`, undefined, headers)
      let early = 0
      // 14 times 9 are 126: a result may be read ten times at once.
      const all = greedy.flatMap(({ token }) => Array.from({ length: 9 }, () => wait(host, token)))
      for (const one of all) one.then(() => early++)
      const first = await Promise.race(all)
      assert.deepEqual([first.statusCode, first.json().flowStatus], [200, null], 'one too many: answered immediately')
      const waiting = wait(other, created.token)
      for (let later = 0; later < 5; later++) await other.result(created.token)
      await other.outcome(created.sessionId)
      assert.equal((await waiting).json().flowStatus, 'COMPLETED', 'the other tenant has waited')
      assert.equal(early, 1)
      fixture.harness.clock.advance(25_000)
      await Promise.all(all)
    })
  }

  test('accepts whole seconds from 0 to 25', async () => {
    const { token } = await host.create()
    assert.equal((await read(token, 0)).json().flowStatus, null)
    for (const [wait, message] of [
      [26, 'must be <= 25'],
      [-1, 'must be >= 0'],
      ['1.5', 'must be integer'],
      ['soon', 'must be integer'],
    ] as const) {
      const details = [{ pointer: '/query/wait', message }]
      const text = `The request is not valid: /query/wait ${message}`
      assertError(await read(token, wait), 400, 'VALIDATION_FAILED', text, { details })
    }
  })
})

describe('who may read', () => {
  test('the token alone is enough, unless the tenant wants its key as well', async () => {
    const created = await host.create()
    const keyless = { 'x-api-key': undefined }
    const url = `/session/${created.token}/result`
    assert.deepEqual((await host.call('GET', url, undefined, keyless)).json(), openBody(created))
    const strict = await fixture.newHost({ settings: { resultRequiresKey: true } })
    const closed = `/session/${(await strict.create()).token}/result`
    assertError(await strict.call('GET', closed, undefined, keyless), 401, 'MISSING_API_KEY', 'Missing API key')
    assert.equal((await strict.call('GET', closed)).statusCode, 200)
  })

  test('unknown and malformed tokens get the same answer', async () => {
    const { token } = await host.create()
    const other = token.endsWith('A') ? 'B' : 'A'
    for (const wrong of [`${token.slice(0, -1)}${other}`, token.slice(0, -1), `at_${'A'.repeat(64)}`, 'x', '%00']) {
      const answer = await host.call('GET', `/session/${wrong}/result`)
      assertError(answer, 404, 'NOT_FOUND', 'There is no session with this token')
    }
  })

  test('a result may be read ten times in a burst and then once a second', async () => {
    const { token } = await host.create()
    const read = () => host.call('GET', `/session/${token}/result`)
    for (let times = 0; times < 10; times++) assert.equal((await read()).statusCode, 200)
    const refused = await read()
    assertError(refused, 429, 'RATE_LIMITED', 'Too many reads of this result', { retryAfter: 1 })
    assert.equal(refused.headers['retry-after'], '1')
    assert.equal((await host.call('GET', `/session/${(await host.create()).token}/result`)).statusCode, 200)
    fixture.harness.clock.advance(1_000)
    assert.equal((await read()).statusCode, 200)
  })
})

describe('risk', () => {
  test('[X-004] [X-005] [X-006] [X-007] each level has its scores and its recommendation', async () => {
    for (const [risk, score, recommendation] of [
      ['LOW', 0, 'ALLOW'],
      ['MEDIUM', 30, 'REVIEW'],
      ['HIGH', 60, 'REVIEW'],
      ['CRITICAL', 85, 'BLOCK'],
    ] as const) {
      const { result } = await ended({}, { risk })
      assert.deepEqual(result.riskEvaluation, { ...NOTHING_JUDGED, score, level: risk, recommendation })
      assert.equal(result.sessionStatus, 'AGE_ABOVE_THRESHOLD', 'a recommendation alone changes no verdict')
    }
  })

  test('where the tenant enforces it, BLOCK leaves no verdict and says so with -34', async () => {
    const strict = await fixture.newHost({ settings: { enforceBlock: true, risk: { highBlocks: true } } })
    for (const risk of ['HIGH', 'CRITICAL'] as const) {
      const { created, result } = await ended({}, { risk, faceAge: 40 }, strict)
      const { riskEvaluation, ...rest } = result
      assert.deepEqual([riskEvaluation.level, riskEvaluation.recommendation], [risk, 'BLOCK'])
      const { riskEvaluation: _none, ...expected } = endedBody(created, {
        flowStatus: 'COMPLETED',
        outcome: 'FAILED',
        errors: [-34],
        errorDetails: [{ code: -34, name: 'POLICY_BLOCKED' }],
        // Nothing in it that a host could take for a pass.
        result: {},
      })
      assert.deepEqual(rest, expected)
    }
    assert.equal((await ended({}, { risk: 'MEDIUM' }, strict)).result.sessionStatus, 'AGE_ABOVE_THRESHOLD')
  })
})

test('the settings at the creation apply until the end, even when the tenant changes them meanwhile', async () => {
  const changing = await fixture.newHost()
  const before = await changing.create(LEAST)
  await fixture.harness.wire.settings.service.set(changing.tenantId, { alwaysReturnAge: true })
  await changing.outcome(before.sessionId, { faceAge: 40 })
  assert.ok(!('age' in (await changing.result(before.token)).result))
})
