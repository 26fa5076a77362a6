/** Hosts of area D and a receiver for their webhooks, around the whole product. Only tests import this. */
import assert from 'node:assert/strict'
import type {
  CreatedVerification,
  VerificationSummary,
  VerificationTestOutcome,
  VerificationType,
  VerificationWebhook,
} from '@ostiary/contract'
import { createAgeFixture, type Host, NOTHING_JUDGED } from '../../age/testing/fixture.ts'
import type { NewKey } from '../../keys/index.ts'
import { isPurged, newProgress } from '../../sessions/index.ts'
import { type VerificationEnd, type VerificationSession, verificationSessionsIn } from '../types.ts'

export type VerificationFixture = Awaited<ReturnType<typeof createVerificationFixture>>
export type VerificationHost = Awaited<ReturnType<VerificationFixture['newHost']>>

const VERIFY_SCOPES: NewKey['scopes'] = ['verify:write', 'verify:read']

/** The smallest body of a creation. */
export const leastOf = (type: VerificationType, callbackUrl: string) => ({
  type,
  redirectURL: 'https://shop.example/back?state=7',
  callback: { url: callbackUrl },
  ...(type === 'VERIFY' && { customerId: 'customer-1' }),
})

/** A fixture with its first host. */
export async function createVerificationHost(
  env: Record<string, string> = {},
  wanted?: Parameters<VerificationFixture['newHost']>[0],
) {
  const fixture = await createVerificationFixture(env)
  return { fixture, host: await fixture.newHost(wanted) }
}

export async function createVerificationFixture(env: Record<string, string> = {}) {
  const age = await createAgeFixture(env)
  const { harness, receiver } = age

  function hostOf({ tenantId, keyId, key, call }: Host) {
    const read = async (url: string) => {
      const found = await call('GET', url)
      assert.equal(found.statusCode, 200, found.body)
      return found.json()
    }
    return {
      ...{ tenantId, keyId, key, call },
      /** Creates a session with the smallest body of this type; `body` is added to it. */
      async create(type: VerificationType = 'ENROLL', body: object = {}): Promise<CreatedVerification> {
        const created = await call('POST', PATH, { ...leastOf(type, receiver.url), ...body })
        assert.equal(created.statusCode, 201, created.body)
        return created.json()
      },
      get: (sessionId: string): Promise<VerificationSummary> => read(`${PATH}/${sessionId}`),
      webhook: (sessionId: string): Promise<VerificationWebhook> => read(`${PATH}/${sessionId}/webhook`),
      /** Ends a test session. */
      async outcome(sessionId: string, outcome: VerificationTestOutcome = 'success'): Promise<void> {
        const ended = await call('POST', `/test/sessions/${sessionId}/outcome`, { outcome })
        assert.equal(ended.statusCode, 204, ended.body)
      },
    }
  }

  return {
    ...age,
    age,
    newHost: async (wanted: Parameters<typeof age.newHost>[0] = {}) =>
      hostOf(await age.newHost({ scopes: VERIFY_SCOPES, ...wanted })),
    /** Another key of the same tenant. */
    sibling: async (host: { tenantId: string }, wanted: Partial<NewKey> = {}) =>
      hostOf(await age.sibling(host, { scopes: VERIFY_SCOPES, ...wanted })),
    /** Ends a session as its flow would. */
    async conclude(
      sessionId: string,
      end: VerificationEnd,
      progress?: Partial<NonNullable<VerificationSession['progress']>>,
    ) {
      const { sessions, verification } = harness.wire
      const ended = await verificationSessionsIn(sessions.service).whileLocked(sessionId, async (tx, found) => {
        assert.ok(!isPurged(found))
        const known = progress ? { ...EMPTY, ...found.progress, ...progress } : found.progress
        return verification.ending.conclude(tx, { ...found, progress: known }, end)
      })
      assert.ok(ended)
      return ended.state
    },
    /** Delivers what waits and returns the last webhook of a session, as it arrived. */
    async delivered(sessionId: string) {
      await harness.wire.webhooks.dispatcher.tick()
      const found = receiver.received.findLast(({ body }) => body.toString().includes(sessionId))
      assert.ok(found, 'a webhook of the session arrived')
      return found
    },
  }
}

export const PATH = '/v2/verification-session'

const EMPTY = newProgress('en')

/** The whole webhook of a success of a session with the smallest body; a test names what differs. */
export function successBody(created: CreatedVerification, changes: Partial<VerificationWebhook>): VerificationWebhook {
  return {
    sessionId: created.sessionId,
    status: 'SUCCESS',
    message: 'Ok',
    errors: [],
    riskEvaluation: NOTHING_JUDGED,
    type: 'ENROLL',
    outcome: 'SUCCEEDED',
    // Tests that end a session without a device.
    codeHash: null,
    consent: null,
    livemode: created.livemode,
    ...changes,
  }
}
