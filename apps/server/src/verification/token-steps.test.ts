import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newVerificationProgress } from './progress.ts'
import { createTokenSteps } from './token-steps.ts'
import type { RunningVerification } from './types.ts'

type Deps = Parameters<typeof createTokenSteps>[0]

const NOW = new Date('2026-11-19T12:00:00Z')
const NAMED = { tokenId: 't', account: 'a', puid: null, keyHolderNonce: 'k', matcherNonce: 'm', probeHash: null }
const steps = createTokenSteps({ sessions: {}, clock: { now: () => NOW } } as unknown as Deps)

/** An ENROLL by token whose device has begun a token in the challenge that is under way. */
const begun = (tokenEnrolments: number) =>
  ({
    area: 'verification',
    state: 'FACE_ACTIVE',
    request: { type: 'ENROLL', policy: { templates: 'token' } },
    progress: {
      challenge: { nonce: 'n', isLook: false, expiresAtMs: NOW.getTime() + 1 },
      own: { ...newVerificationProgress(), token: { ...NAMED, nonce: 'n' }, tokenEnrolments },
    },
  }) as unknown as RunningVerification

test('[U3] an enrolment is counted before it is evaluated, and the eleventh of a session is refused', () => {
  let session = begun(0)
  for (let n = 1; n <= 10; n++) {
    const { state, progress } = steps.beginEnrol(session)
    session = { ...session, state, progress } as RunningVerification
    assert.equal(session.progress.own?.tokenEnrolments, n)
  }
  assert.throws(() => steps.beginEnrol(session), { code: 'TOKEN_REFUSED' })
})
