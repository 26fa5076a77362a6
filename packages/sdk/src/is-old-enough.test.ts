import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { AGE_STATUSES, FLOW_STATUSES, RISK_RECOMMENDATIONS } from '@ostiary/contract'
import { type AgeVerdict, isOldEnough } from './is-old-enough.ts'

type Vector = Pick<AgeVerdict, 'flowStatus' | 'status'> & AgeVerdict['riskEvaluation'] & { isOldEnough: boolean }
const { vectors }: { vectors: Vector[] } = JSON.parse(
  readFileSync(new URL('../../../docs/age-test-vectors.json', import.meta.url), 'utf8'),
)

test('[P1] of all verdicts, flow states and recommendations two are old enough: completed, at or above, ALLOW', () => {
  const all = AGE_STATUSES.flatMap((status) =>
    [null, ...FLOW_STATUSES].flatMap((flowStatus) =>
      Object.keys(RISK_RECOMMENDATIONS).map((recommendation) => [status, flowStatus, recommendation].join()),
    ),
  )
  const named = vectors.map(({ status, flowStatus, recommendation }) => [status, flowStatus, recommendation].join())
  assert.deepEqual([named.toSorted(), named.length], [all.toSorted(), 48])
  const yes = vectors.filter((vector) => vector.isOldEnough).map(({ status }) => status)
  assert.deepEqual(yes, ['AGE_ABOVE_THRESHOLD', 'AGE_AT_THRESHOLD'])
})

test('[P1] the client says so of each', () => {
  for (const { status, flowStatus, recommendation, isOldEnough: expected } of vectors)
    assert.equal(isOldEnough({ status, flowStatus, riskEvaluation: { recommendation } }), expected)
})
