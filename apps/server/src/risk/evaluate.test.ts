import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RISK_FLAG_CODES, RISK_FLAGS, RiskEvaluation, type RiskFlagCode, type RiskOverrides } from '@ostiary/contract'
import Value from 'typebox/value'
import { dryRun, evaluateRisk, type RiskFlag, withoutVerdict } from './index.ts'

const raise = (...codes: RiskFlagCode[]): RiskFlag[] => codes.map((code) => ({ code }))

function evaluate(flags: readonly RiskFlag[], overrides?: RiskOverrides): RiskEvaluation {
  return evaluateRisk({ flags, browserEvaluated: true, behavioralEvaluated: true, overrides })
}

test('[X-010] a session without flags has score 0 and both sources with 0', () => {
  assert.deepEqual(evaluate([]), {
    score: 0,
    level: 'LOW',
    recommendation: 'ALLOW',
    flags: [],
    signals: { behavioral: { score: 0, flags: [] }, browser: { score: 0, flags: [] } },
    policyVersion: '4',
  })
})

test('[X-010] the score is the noisy-OR of the weights, rounded half up, and is broken down by source', () => {
  // 100 x (1 - 0.75 x 0.70 x 0.60) = 68.5
  assert.deepEqual(evaluate(raise('BH_LOG_GAP', 'BR_TIMING', 'BR_WEBGL')), {
    score: 69,
    level: 'HIGH',
    recommendation: 'REVIEW',
    flags: ['BR_WEBGL', 'BR_TIMING', 'BH_LOG_GAP'],
    signals: {
      behavioral: { score: 40, flags: ['BH_LOG_GAP'] },
      browser: { score: 48, flags: ['BR_WEBGL', 'BR_TIMING'] },
    },
    policyVersion: '4',
  })
})

test('an exact half is rounded up, also where floating point would fall short of it', () => {
  assert.equal(evaluate(raise('BR_PLUGINS', 'BR_WEBGL')).score, 33, '100 x (1 - 0.90 x 0.75) = 32.5')
  assert.equal(evaluate(raise('BH_TOO_SLOW', 'BH_AGE_UNSTABLE')).score, 33)
})

test('the highest floor lifts the score, in the source and in the whole', () => {
  const { score, level, recommendation, signals } = evaluate(raise('BR_USER_AGENT', 'BH_CHAIN_BROKEN'))
  assert.deepEqual([score, level, recommendation], [95, 'CRITICAL', 'BLOCK'])
  assert.deepEqual(signals, {
    behavioral: { score: 95, flags: ['BH_CHAIN_BROKEN'] },
    browser: { score: 60, flags: ['BR_USER_AGENT'] },
  })
})

test('a source that was not evaluated is null, and its flags count nowhere', () => {
  const flags = raise('BR_WEBDRIVER', 'BH_TOO_FAST')
  assert.deepEqual(evaluateRisk({ flags, browserEvaluated: false, behavioralEvaluated: true }), {
    score: 60,
    level: 'HIGH',
    recommendation: 'REVIEW',
    flags: ['BH_TOO_FAST'],
    signals: { behavioral: { score: 60, flags: ['BH_TOO_FAST'] }, browser: null },
    policyVersion: '4',
  })
  assert.deepEqual(evaluateRisk({ flags, browserEvaluated: true, behavioralEvaluated: false }), {
    score: 85,
    level: 'CRITICAL',
    recommendation: 'BLOCK',
    flags: ['BR_WEBDRIVER'],
    signals: { behavioral: null, browser: { score: 85, flags: ['BR_WEBDRIVER'] } },
    policyVersion: '4',
  })
})

test('a flag that says that browser data is missing counts without its source, and then stands in flags only', () => {
  const flags = raise('BH_NO_BROWSER_DATA', 'BH_TOO_FAST')
  assert.deepEqual(evaluateRisk({ flags, browserEvaluated: false, behavioralEvaluated: false }), {
    score: 40,
    level: 'MEDIUM',
    recommendation: 'REVIEW',
    flags: ['BH_NO_BROWSER_DATA'],
    signals: { behavioral: null, browser: null },
    policyVersion: '4',
  })
  const softer = { flags: { BH_NO_BROWSER_DATA: { weight: 10 } } }
  const kept = evaluateRisk({ flags, browserEvaluated: false, behavioralEvaluated: false, overrides: softer })
  assert.deepEqual([kept.score, kept.recommendation], [30, 'REVIEW'], 'the floor keeps it from ALLOW')
})

test('flags about a document stand in flags only, and all of them together recommend no BLOCK', () => {
  const flags = RISK_FLAG_CODES.filter((code) => RISK_FLAGS[code].source === 'document')
  assert.equal(flags.length, 7)
  for (const code of flags) {
    const alone = evaluateRisk({ flags: [{ code }], browserEvaluated: true, behavioralEvaluated: true })
    assert.deepEqual(alone.flags, [code])
    assert.deepEqual(alone.signals, { behavioral: { score: 0, flags: [] }, browser: { score: 0, flags: [] } })
    assert.ok(['LOW', 'MEDIUM'].includes(alone.level), code)
  }
  const all = evaluateRisk({
    flags: flags.map((code) => ({ code })),
    browserEvaluated: true,
    behavioralEvaluated: true,
  })
  assert.deepEqual([all.score, all.recommendation], [84, 'REVIEW'])
})

test('[U4] [X-007] without a verdict the recommendation is never ALLOW, and nothing else changes', () => {
  for (let floor = 0; floor <= 100; floor++) {
    const evaluated = evaluate(raise('BR_WEBGL'), { flags: { BR_WEBGL: { weight: 0, floor: Math.min(floor, 59) } } })
    const { recommendation, ...rest } = withoutVerdict(evaluated)
    assert.deepEqual({ ...rest, recommendation: evaluated.recommendation }, evaluated)
    assert.equal(recommendation, evaluated.recommendation === 'ALLOW' ? 'REVIEW' : evaluated.recommendation)
  }
})

test('where nothing was evaluated the recommendation is never ALLOW, except for a simulated end', () => {
  const nothing = { flags: [], browserEvaluated: false, behavioralEvaluated: false }
  const { score, level, recommendation } = evaluateRisk(nothing)
  assert.deepEqual([score, level, recommendation], [0, 'LOW', 'REVIEW'])
  const off = {
    flags: { BH_NO_BROWSER_DATA: { weight: 0, floor: 0 } },
    sources: ['network', 'handoff'],
  } satisfies RiskOverrides
  const silenced = evaluateRisk({ ...nothing, flags: raise('BH_NO_BROWSER_DATA'), overrides: off })
  assert.deepEqual([silenced.flags, silenced.recommendation], [[], 'REVIEW'])
  assert.equal(evaluateRisk({ ...nothing, simulated: true }).recommendation, 'ALLOW')
})

test('[X-005] [X-006] [X-007] every score has its level and recommendation, with the bounds at 30, 60 and 85', () => {
  const seen = new Map<number, string>()
  for (let floor = 0; floor <= 100; floor++) {
    const { score, level, recommendation } = evaluate(raise('BH_TOO_SLOW'), {
      flags: { BH_TOO_SLOW: { weight: 0, floor } },
    })
    assert.equal(score, floor)
    seen.set(score, `${level} ${recommendation}`)
  }
  const expected = (score: number) =>
    score < 30 ? 'LOW ALLOW' : score < 60 ? 'MEDIUM REVIEW' : score < 85 ? 'HIGH REVIEW' : 'CRITICAL BLOCK'
  for (const [score, words] of seen) assert.equal(words, expected(score), `score ${score}`)
  assert.equal(seen.size, 101)
})

test('a flag that is raised twice counts once', () => {
  assert.deepEqual(evaluate(raise('BR_TIMING', 'BR_TIMING')), evaluate(raise('BR_TIMING')))
})

test('a softened flag weighs less and loses its floor; raised in full beside it, the full one counts', () => {
  const softened = { code: 'BR_VCAM_LABEL', weight: 20 } as const
  assert.deepEqual(evaluate([softened]).signals.browser, { score: 20, flags: ['BR_VCAM_LABEL'] })
  assert.equal(evaluate([softened, { code: 'BR_VCAM_LABEL' }]).score, 60)
  assert.equal(evaluate([{ code: 'BR_VCAM_LABEL' }, softened]).score, 60)
  assert.equal(evaluate([{ code: 'BR_CHROME' }, { code: 'BR_CHROME', weight: 10 }]).score, 30)
  const lower = { flags: { BR_VCAM_LABEL: { weight: 15 } } }
  assert.equal(evaluate([softened], lower).score, 15, 'softening never makes a flag heavier than the policy')
})

test('a tenant changes weight and floor of a flag, each alone', () => {
  const flags = raise('BR_USER_AGENT')
  assert.equal(evaluate(flags, { flags: { BR_USER_AGENT: { weight: 70 } } }).score, 70)
  assert.equal(evaluate(flags, { flags: { BR_USER_AGENT: { floor: 0 } } }).score, 50)
  assert.equal(evaluate(flags, { flags: { BR_USER_AGENT: { floor: 90 } } }).recommendation, 'BLOCK')
})

test('a flag that a tenant switched off is not named', () => {
  const { score, flags, signals } = evaluate(raise('BR_WEBDRIVER'), {
    flags: { BR_WEBDRIVER: { weight: 0, floor: 0 } },
  })
  assert.deepEqual(
    { score, flags, signals },
    {
      score: 0,
      flags: [],
      signals: { behavioral: { score: 0, flags: [] }, browser: { score: 0, flags: [] } },
    },
  )
})

test('highBlocks turns HIGH into BLOCK and nothing else', () => {
  const words = (code: RiskFlagCode) => {
    const { level, recommendation } = evaluate(raise(code), { highBlocks: true })
    return `${level} ${recommendation}`
  }
  assert.deepEqual((['BR_PLUGINS', 'BR_TIMING', 'BR_USER_AGENT', 'BR_WEBDRIVER'] as const).map(words), [
    'LOW ALLOW',
    'MEDIUM REVIEW',
    'HIGH BLOCK',
    'CRITICAL BLOCK',
  ])
})

test('network and handoff count only when turned on, and then have their own entries', () => {
  const flags = raise('NW_TOR', 'HO_LINK_SHARED', 'BR_PLUGINS')
  const off = evaluate(flags)
  assert.deepEqual([off.score, off.flags, Object.keys(off.signals)], [10, ['BR_PLUGINS'], ['behavioral', 'browser']])
  const { policyVersion, ...on } = evaluate(flags, { sources: ['network', 'handoff'] })
  assert.match(policyVersion, /^4\+[0-9a-f]{8}$/)
  assert.deepEqual(on, {
    score: 62, // 100 x (1 - 0.9 x 0.6 x 0.7) = 62.2
    level: 'HIGH',
    recommendation: 'REVIEW',
    flags: ['BR_PLUGINS', 'HO_LINK_SHARED', 'NW_TOR'],
    signals: {
      behavioral: { score: 0, flags: [] },
      browser: { score: 10, flags: ['BR_PLUGINS'] },
      network: { score: 30, flags: ['NW_TOR'] },
      handoff: { score: 40, flags: ['HO_LINK_SHARED'] },
    },
  })
  assert.deepEqual(Object.keys(evaluate([], { sources: ['network'] }).signals), ['behavioral', 'browser', 'network'])
})

test('no flag of a privacy tool rises above MEDIUM alone, even by overrides that were stored past the check', () => {
  const privacy = RISK_FLAG_CODES.filter((code) => RISK_FLAGS[code].privacyTool)
  assert.ok(privacy.length > 0)
  for (const code of privacy) {
    const overrides: RiskOverrides = { flags: { [code]: { weight: 100, floor: 100 } }, sources: ['network', 'handoff'] }
    const { score, level } = evaluate(raise(code), overrides)
    assert.deepEqual([score, level], [59, 'MEDIUM'], code)
    assert.ok(['LOW', 'MEDIUM'].includes(evaluate(raise(code), { sources: ['network', 'handoff'] }).level), code)
  }
})

test('the policy version names changed weights, equally for equal changes', () => {
  const version = (overrides: RiskOverrides) => evaluate([], overrides).policyVersion
  assert.equal(version({}), '4')
  assert.equal(version({ flags: { BR_WEBGL: {} }, sources: [], highBlocks: false }), '4')
  const one = version({
    flags: { BR_WEBGL: { weight: 5 }, BH_TOO_SLOW: { floor: 3 } },
    sources: ['network', 'handoff'],
  })
  const same = version({
    sources: ['handoff', 'network'],
    flags: { BH_TOO_SLOW: { floor: 3 }, BR_WEBGL: { weight: 5 } },
  })
  assert.equal(one, same)
  const others: RiskOverrides[] = [
    { flags: { BR_WEBGL: { weight: 5 } } },
    { flags: { BR_WEBGL: { floor: 5 } } },
    { flags: { BR_TIMING: { weight: 5 } } },
    { sources: ['network'] },
    { highBlocks: true },
  ]
  assert.equal(new Set([one, '1', ...others.map(version)]).size, 2 + others.length)
})

test('a dry run gives the same flags under both policies', () => {
  const { current, proposed } = dryRun(raise('BR_WEBGL', 'BH_TOO_FAST'), {}, { flags: { BH_TOO_FAST: { floor: 0 } } })
  assert.deepEqual([current.score, current.level, current.policyVersion], [63, 'HIGH', '4'])
  assert.deepEqual([proposed.score, proposed.level], [63, 'HIGH'])
  assert.deepEqual([current.signals.behavioral?.score, proposed.signals.behavioral?.score], [60, 50])
  assert.notEqual(current.policyVersion, proposed.policyVersion)
})

/** A fixed sequence, so that a failure can be repeated. */
function* randoms(seed: number): Generator<number, never> {
  let state = seed
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    yield state / 2 ** 32
  }
}
const random = randoms(20261115)
const draw = (below: number) => Math.floor(random.next().value * below)
const pick = <T>(list: readonly T[]): T[] => list.filter(() => draw(6) === 0)
const shuffle = <T>(list: readonly T[]): T[] =>
  list
    .map((value) => ({ value, at: random.next().value }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value)

function anyFlags(): RiskFlag[] {
  return pick(RISK_FLAG_CODES).map((code) => (draw(4) === 0 ? { code, weight: draw(100) } : { code }))
}
function anyOverrides(): RiskOverrides {
  const flags = Object.fromEntries(pick(RISK_FLAG_CODES).map((code) => [code, { weight: draw(101), floor: draw(101) }]))
  return { flags, highBlocks: draw(2) === 0, sources: pick(['network', 'handoff'] as const) }
}

test('[X-004] [X-005] [X-007] [X-009] whatever is raised, the evaluation has the shape of the contract', () => {
  for (let round = 0; round < 500; round++) {
    const evaluation = evaluate(anyFlags(), anyOverrides())
    assert.ok(Value.Check(RiskEvaluation, evaluation), JSON.stringify(evaluation))
    const bySource = Object.values(evaluation.signals).flatMap((signal) => signal?.flags ?? [])
    const withSignal = evaluation.flags.filter((code) => RISK_FLAGS[code].source !== 'document')
    assert.deepEqual(bySource.sort(), withSignal.sort(), 'each flag but those of a document stands in one source')
    for (const signal of Object.values(evaluation.signals)) assert.ok((signal?.score ?? 0) <= evaluation.score)
  }
})

test('[X-006] one more flag never lowers the score, and a higher score never has a lower level', () => {
  const rank = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL']
  const levels = new Map<number, string>()
  for (let round = 0; round < 500; round++) {
    const [flags, overrides] = [anyFlags(), anyOverrides()]
    const before = evaluate(flags, overrides)
    for (const code of RISK_FLAG_CODES) {
      const after = evaluate([...flags, { code }], overrides)
      assert.ok(after.score >= before.score, `${code} on ${JSON.stringify({ flags, overrides })}`)
      assert.ok(rank.indexOf(after.level) >= rank.indexOf(before.level))
      assert.equal(levels.get(after.score) ?? after.level, after.level, 'equal scores, equal levels')
      levels.set(after.score, after.level)
    }
  }
})

test('the order in which flags are raised changes nothing', () => {
  for (let round = 0; round < 300; round++) {
    const [flags, overrides] = [anyFlags(), anyOverrides()]
    assert.deepEqual(evaluate(shuffle(flags), overrides), evaluate(flags, overrides))
  }
})

test('equal weights give equal scores, whichever flags carry them', () => {
  for (let round = 0; round < 300; round++) {
    const weights = Array.from({ length: 6 }, () => 1 + draw(59))
    const scoreOf = () => {
      const codes = shuffle(RISK_FLAG_CODES).slice(0, weights.length)
      const flags = Object.fromEntries(codes.map((code, index) => [code, { weight: weights[index] ?? 0, floor: 0 }]))
      return evaluate(raise(...codes), { flags, sources: ['network', 'handoff'] }).score
    }
    assert.equal(scoreOf(), scoreOf(), String(weights))
  }
})
