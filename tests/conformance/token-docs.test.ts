// spec-kind: docs
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { KEY_HOLDER_LIMITS, TEMPLATE_KINDS, TOKEN_BUDGET, TOKEN_SIZES } from '@ostiary/contract'
import {
  EVALUATION_BYTES,
  KEY_SHARE_BYTES,
  MATCHER_SHARE_BYTES,
  PROBE_BYTES,
  PUBLIC_KEY_BYTES,
  TOKEN_BYTES,
  TOKEN_PARAMETERS,
} from '@ostiary/token'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const text = read('docs/token.md').replace(/\s+/g, ' ')
const counted = (bytes: number) => bytes.toLocaleString('en')

test('[D-044] the document says why the face cannot be recovered from the token, and what that rests on', () => {
  assert.match(text, /\*\*Non-invertible\*\*[^.]*cannot be turned back into a face vector without both key shares\./)
  assert.match(text, /computational and keyed: it is encryption, not a one-way function/)
  assert.match(text, /Not reviewed by an outside cryptographer/)
})

test('the document claims nothing that the review forbids', () => {
  const documents = [
    'docs/token.md',
    'SECURITY.md',
    'docs/threat-model.md',
    'README.md',
    'docs/privacy.md',
    'docs/api/verification.md',
  ]
  for (const path of documents) {
    const found = read(path).replace(/\s+/g, ' ').toLowerCase()
    const ofTokens = path === 'docs/token.md' ? ['constant time', 'wiped memory'] : []
    for (const claim of ['zero-knowledge', 'quantum-safe', 'unhackable', ...ofTokens])
      for (const { index } of found.matchAll(new RegExp(claim, 'g')))
        assert.match(found.slice(Math.max(0, index - 80), index), /\b(not|no)\b/, `${path} claims ${claim}`)
    assert.doesNotMatch(found, /neither (service )?can read|mathematically impossible|irreversible token/, path)
  }
})

test('its numbers are those of the code, and the contract has the sizes of the package', () => {
  assert.deepEqual(
    [TOKEN_SIZES.token, TOKEN_SIZES.publicKey, TOKEN_SIZES.probe, TOKEN_SIZES.keyShare, TOKEN_SIZES.matcherShare],
    [TOKEN_BYTES, PUBLIC_KEY_BYTES, PROBE_BYTES, KEY_SHARE_BYTES, MATCHER_SHARE_BYTES],
  )
  for (const bytes of [TOKEN_BYTES, PUBLIC_KEY_BYTES, PROBE_BYTES, KEY_SHARE_BYTES])
    assert.ok(text.includes(counted(bytes)), counted(bytes))
  assert.deepEqual([TOKEN_PARAMETERS.n, TOKEN_PARAMETERS.k, TOKEN_PARAMETERS.qBits], [1024, 4, 88])
  assert.match(text, /ring of 1,024 coefficients, rank 4, modulus 2\^88/)
  assert.ok(Math.abs((EVALUATION_BYTES + PROBE_BYTES + TOKEN_BYTES) / 1e6 - 0.88) < 0.005)
  assert.match(text, /about 0\.88 MB/)
  const { evaluationsPerDay, failuresPerDay, failuresPer30Days, evaluationsPerToken, monthsPerToken } = TOKEN_BUDGET
  assert.ok(
    text.includes(
      `after ${evaluationsPerDay} comparisons a day, ${failuresPerDay} failures a day or ${failuresPer30Days} in 30 days`,
    ),
  )
  assert.ok(text.includes(`${counted(evaluationsPerToken)} comparisons or ${monthsPerToken} months`))
  assert.equal(TOKEN_BUDGET.attackEvents, 3)
  assert.equal(KEY_HOLDER_LIMITS.pendingSeconds, 3600)
  for (const kind of TEMPLATE_KINDS) assert.ok(text.includes(`\`${kind}\``), kind)
})
