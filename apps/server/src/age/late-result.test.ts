import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW, sessionAt } from '../launch/testing/session.ts'
import { LATE_RULE, lateResultOf } from './late-result.ts'
import type { AgeRequest, Policy } from './request.ts'

const POLICY: Policy = {
  retentionSeconds: 86_400,
  alwaysReturnAge: true,
  faceAgeMarginYears: 2,
  enforceBlock: true,
  risk: { highBlocks: true, sources: ['network', 'handoff'], flags: { BH_NO_BROWSER_DATA: { weight: 7 } } },
  defaultLocale: 'de',
  redirectCode: true,
}

const ended = (request: Partial<AgeRequest> = {}) => ({
  ...sessionAt<never>('EXPIRED', request),
  livemode: true,
  endedAt: new Date(NOW.getTime() + 900_123),
})
const textOf = (request: Partial<AgeRequest>, rule: number) => lateResultOf(ended(request), rule).toString()

/** These bytes must never change: results that were read once are read again. Change nothing here; add a rule (late-result.ts). */
const OF_RULE_1: readonly [Partial<AgeRequest>, string][] = [
  [
    {},
    '{"token":"at_test","sessionId":"079b6cd9-f993-81a6-95fd-62194e74386d","sessionStatus":"AGE_UNKNOWN","status":"AGE_UNKNOWN","flowStatus":"EXPIRED","result":{"confidenceScore":null,"faceMatch":null},"thresholds":{"ageThreshold":30,"compareThreshold":0.5,"faceMatchThreshold":0.5,"documentAgeThreshold":30},"metadata":{},"riskEvaluation":{"score":0,"level":"LOW","recommendation":"REVIEW","flags":[],"signals":{"behavioral":null,"browser":null},"policyVersion":"3"},"errors":[-8],"errorDetails":[{"code":-8,"name":"SESSION_EXPIRED"}],"outcome":"EXPIRED","assurance":{"level":"none","method":"none"},"createdAt":"2026-11-15T12:00:00.000Z","expiresAt":"2026-11-15T12:15:00.000Z","endedAt":"2026-11-15T12:15:00.123Z","consent":null,"livemode":true}',
  ],
  [
    { metadata: { order: 'A-7' }, ageThreshold: 18.5, documentAgeThreshold: 16, faceMatchThreshold: 0.42 },
    '{"token":"at_test","sessionId":"079b6cd9-f993-81a6-95fd-62194e74386d","sessionStatus":"AGE_UNKNOWN","status":"AGE_UNKNOWN","flowStatus":"EXPIRED","result":{"confidenceScore":null,"faceMatch":null},"thresholds":{"ageThreshold":18.5,"compareThreshold":0.42,"faceMatchThreshold":0.42,"documentAgeThreshold":16},"metadata":{"order":"A-7"},"riskEvaluation":{"score":0,"level":"LOW","recommendation":"REVIEW","flags":[],"signals":{"behavioral":null,"browser":null},"policyVersion":"3"},"errors":[-8],"errorDetails":[{"code":-8,"name":"SESSION_EXPIRED"}],"outcome":"EXPIRED","assurance":{"level":"none","method":"none"},"createdAt":"2026-11-15T12:00:00.000Z","expiresAt":"2026-11-15T12:15:00.000Z","endedAt":"2026-11-15T12:15:00.123Z","consent":null,"livemode":true}',
  ],
  [
    { metadata: { amount: 1 }, metadataText: '{ "amount": 1.0 }', stepUpEnabled: true },
    '{"token":"at_test","sessionId":"079b6cd9-f993-81a6-95fd-62194e74386d","sessionStatus":"AGE_UNKNOWN","status":"AGE_UNKNOWN","flowStatus":"EXPIRED","result":{"confidenceScore":null,"faceMatch":null},"thresholds":{"ageThreshold":30,"compareThreshold":0.5,"faceMatchThreshold":0.5,"documentAgeThreshold":30},"metadata":{ "amount": 1.0 },"riskEvaluation":{"score":0,"level":"LOW","recommendation":"REVIEW","flags":[],"signals":{"behavioral":null,"browser":null},"policyVersion":"3"},"document":null,"errors":[-8],"errorDetails":[{"code":-8,"name":"SESSION_EXPIRED"}],"outcome":"EXPIRED","assurance":{"level":"none","method":"none"},"createdAt":"2026-11-15T12:00:00.000Z","expiresAt":"2026-11-15T12:15:00.000Z","endedAt":"2026-11-15T12:15:00.123Z","consent":null,"livemode":true}',
  ],
  [
    { requirements: ['identity_document'], policy: POLICY },
    '{"token":"at_test","sessionId":"079b6cd9-f993-81a6-95fd-62194e74386d","sessionStatus":"AGE_UNKNOWN","status":"AGE_UNKNOWN","flowStatus":"EXPIRED","result":{"confidenceScore":null,"faceMatch":null},"thresholds":{"ageThreshold":30,"compareThreshold":0.5,"faceMatchThreshold":0.5,"documentAgeThreshold":30},"metadata":{},"riskEvaluation":{"score":0,"level":"LOW","recommendation":"REVIEW","flags":[],"signals":{"behavioral":null,"browser":null,"network":{"score":0,"flags":[]},"handoff":{"score":0,"flags":[]}},"policyVersion":"3+80976ed2"},"document":null,"errors":[-8],"errorDetails":[{"code":-8,"name":"SESSION_EXPIRED"}],"outcome":"EXPIRED","assurance":{"level":"none","method":"none"},"createdAt":"2026-11-15T12:00:00.000Z","expiresAt":"2026-11-15T12:15:00.000Z","endedAt":"2026-11-15T12:15:00.123Z","codeHash":null,"consent":null,"livemode":true}',
  ],
]

test('rule 1 makes the same bytes as on the day when it was written', () => {
  for (const [request, bytes] of OF_RULE_1) assert.equal(textOf(request, 1), bytes)
})

test('the rule of today is one that is pinned here', () => {
  assert.equal(LATE_RULE, 1)
})

test('the bytes depend on the request and the times, and on nothing that was found since', () => {
  const session = ended({ metadata: { order: 'A-7' } })
  const first = lateResultOf(session, 1)
  assert.deepEqual(lateResultOf({ ...session, purgeAt: new Date(0), dueAt: new Date(0) }, 1), first)
  assert.notDeepEqual(lateResultOf({ ...session, endedAt: NOW }, 1), first)
})

test('a rule of a newer release is refused, and not guessed', () => {
  assert.throws(() => textOf({}, 2), { fault: 'unavailable', message: /newer release/ })
})
