import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DocumentQuestion, expiryState, findProblem, toClaims } from './facts.ts'
import type { DocumentText } from './types.ts'

const TEXT: DocumentText = {
  source: 'TD3',
  kind: 'passport',
  issuer: 'UTO',
  number: 'X1234567',
  familyName: 'LUNE',
  givenNames: 'MIRA',
  birth: '2008-11-17',
  expiry: '2030-01-01',
  checks: [
    { of: 'number', holds: true },
    { of: 'birth', holds: true },
  ],
}
const QUESTION: DocumentQuestion = {
  today: '2026-11-17',
  age: { threshold: 18, format: 'threshold' },
  expiryGraceDays: 0,
  acceptedTypes: ['passport', 'national_id'],
}

test('claims hold no name, number, issuer or date', () => {
  const claims = toClaims(TEXT, { ...QUESTION, age: { threshold: 18, format: 'both' } })
  assert.deepEqual(claims, {
    type: 'passport',
    format: 'TD3',
    age: { result: 'at', years: 18 },
    expiry: 'valid',
    checks: { number: true, birth: true },
  })
  const sent = JSON.stringify(claims)
  for (const value of ['X1234567', 'LUNE', 'MIRA', 'UTO', '2008', '2030', '0811'])
    assert.ok(!sent.includes(value), value)
})

test('the age in years is there only where the session asked for it', () => {
  const asked = (format: 'threshold' | 'exact') => toClaims(TEXT, { ...QUESTION, age: { threshold: 18, format } }).age
  assert.deepEqual(asked('threshold'), { result: 'at' })
  assert.deepEqual(asked('exact'), { result: 'at', years: 18 })
})

test('a session that asks for no age gets none, and a document without a birth date will do', () => {
  const question = { ...QUESTION, age: null }
  assert.ok(!('age' in toClaims(TEXT, question)))
  assert.equal(findProblem({ ...TEXT, birth: undefined }, question), undefined)
})

test('a person is below until the birthday, at the threshold for a year, then above', () => {
  const on = (today: string) => toClaims(TEXT, { ...QUESTION, today }).age?.result
  assert.equal(on('2026-11-16'), 'below')
  assert.equal(on('2026-11-17'), 'at')
  assert.equal(on('2027-11-16'), 'at')
  assert.equal(on('2027-11-17'), 'above')
})

test('a threshold with decimals is a moment: below before it, above from it on', () => {
  const on = (today: string) =>
    toClaims(TEXT, { ...QUESTION, age: { threshold: 18.5, format: 'exact' }, today }).age?.result
  assert.equal(on('2026-11-17'), 'below')
  assert.equal(on('2027-05-18'), 'below') // 182 of 365 days
  assert.equal(on('2027-05-19'), 'above') // 183 of 365 days
})

test('who was born on 29 February turns 18 on 1 March', () => {
  const on = (today: string) => toClaims({ ...TEXT, birth: '2008-02-29' }, { ...QUESTION, today }).age?.result
  assert.equal(on('2026-02-28'), 'below')
  assert.equal(on('2026-03-01'), 'at')
})

test('a document is valid on its last day, then in grace, then expired', () => {
  const on = (today: string, expiryGraceDays = 30) => expiryState('2026-11-17', { today, expiryGraceDays })
  assert.equal(on('2026-11-17'), 'valid')
  assert.equal(on('2026-11-18'), 'grace')
  assert.equal(on('2026-12-17'), 'grace')
  assert.equal(on('2026-12-18'), 'expired')
  assert.equal(on('2026-11-18', 0), 'expired')
  assert.equal(expiryState(undefined, QUESTION), 'none')
})

test('a document without fault has no problem', () => {
  assert.equal(findProblem(TEXT, QUESTION), undefined)
  assert.equal(findProblem({ ...TEXT, expiry: undefined }, QUESTION), undefined)
})

test('a visa is unsupported even where a tenant lists visas, and so is a kind that is not accepted', () => {
  assert.equal(findProblem({ ...TEXT, kind: 'visa' }, { ...QUESTION, acceptedTypes: ['visa'] }), 'unsupported')
  assert.equal(findProblem({ ...TEXT, kind: 'drivers_license' }, QUESTION), 'unsupported')
})

test('a failed check digit comes before a missing birth date, and that before an expiry', () => {
  const checks = [{ of: 'birth', holds: false }] as const
  assert.equal(findProblem({ ...TEXT, checks, birth: undefined, expiry: '2020-01-01' }, QUESTION), 'tampered')
  assert.equal(findProblem({ ...TEXT, birth: undefined, expiry: '2020-01-01' }, QUESTION), 'noBirthDate')
  assert.equal(findProblem({ ...TEXT, birth: '2026-11-18' }, QUESTION), 'noBirthDate')
  assert.equal(findProblem({ ...TEXT, expiry: '2026-11-16' }, QUESTION), 'expired')
  assert.equal(findProblem({ ...TEXT, expiry: '2026-11-16' }, { ...QUESTION, expiryGraceDays: 1 }), undefined)
})

test('a document without a birth date makes no claim about the age', () => {
  assert.ok(!('age' in toClaims({ ...TEXT, birth: undefined }, QUESTION)))
  assert.ok(!('age' in toClaims({ ...TEXT, birth: '2026-11-18' }, QUESTION)))
})
