/** Hosts of area D and a receiver for their webhooks, around the whole product. Only tests import this. */
import assert from 'node:assert/strict'
import type {
  CreatedVerification,
  TenantSettingsPatch,
  VerificationSummary,
  VerificationTestOutcome,
  VerificationType,
  VerificationWebhook,
} from '@ostiary/contract'
import { type AgeFixture, createAgeFixture, type Host, NOTHING_JUDGED } from '../../age/testing/fixture.ts'
import type { NewKey } from '../../keys/index.ts'
import { isPurged, newProgress } from '../../sessions/index.ts'
import type { Receiver } from '../../webhooks/testing/receiver.ts'
import { type VerificationEnd, type VerificationSession, verificationSessionsIn } from '../types.ts'

export interface VerificationHost extends Pick<Host, 'tenantId' | 'keyId' | 'key' | 'call'> {
  /** Creates a session with the smallest body of this type; `body` is added to it. */
  create(type?: VerificationType, body?: object): Promise<CreatedVerification>
  get(sessionId: string): Promise<VerificationSummary>
  webhook(sessionId: string): Promise<VerificationWebhook>
  /** Ends a test session. */
  outcome(sessionId: string, outcome?: VerificationTestOutcome): Promise<void>
}

export interface VerificationFixture extends Omit<AgeFixture, 'newHost' | 'sibling'> {
  age: AgeFixture
  newHost(wanted?: Partial<NewKey> & { settings?: TenantSettingsPatch }): Promise<VerificationHost>
  /** Another key of the same tenant. */
  sibling(host: VerificationHost, wanted?: Partial<NewKey>): Promise<VerificationHost>
  /** Ends a session as its flow would. */
  conclude(
    sessionId: string,
    end: VerificationEnd,
    progress?: Partial<NonNullable<VerificationSession['progress']>>,
  ): Promise<string>
  /** Delivers what waits and returns the last webhook of a session, as it arrived. */
  delivered(sessionId: string): Promise<Receiver['received'][number]>
}

const VERIFY_SCOPES: NewKey['scopes'] = ['verify:write', 'verify:read']

/** The smallest body of a creation. */
export const leastOf = (type: VerificationType, callbackUrl: string) => ({
  type,
  redirectURL: 'https://shop.example/back?state=7',
  callback: { url: callbackUrl },
  ...(type === 'VERIFY' && { customerId: 'customer-1' }),
})

export async function createVerificationFixture(env: Record<string, string> = {}): Promise<VerificationFixture> {
  const age = await createAgeFixture(env)
  const { harness, receiver } = age

  function hostOf({ tenantId, keyId, key, call }: Host): VerificationHost {
    const read = async (url: string) => {
      const found = await call('GET', url)
      assert.equal(found.statusCode, 200, found.body)
      return found.json()
    }
    return {
      ...{ tenantId, keyId, key, call },
      async create(type = 'ENROLL', body = {}) {
        const created = await call('POST', PATH, { ...leastOf(type, receiver.url), ...body })
        assert.equal(created.statusCode, 201, created.body)
        return created.json()
      },
      get: (sessionId) => read(`${PATH}/${sessionId}`),
      webhook: (sessionId) => read(`${PATH}/${sessionId}/webhook`),
      async outcome(sessionId, outcome = 'success') {
        const ended = await call('POST', `/test/sessions/${sessionId}/outcome`, { outcome })
        assert.equal(ended.statusCode, 204, ended.body)
      },
    }
  }

  return {
    ...age,
    age,
    newHost: async (wanted = {}) => hostOf(await age.newHost({ scopes: VERIFY_SCOPES, ...wanted })),
    sibling: async (host, wanted = {}) => {
      const { tenantId, keyId, key, call } = host
      const unused = () => Promise.reject(new Error('a host of area D'))
      const asAge = { tenantId, keyId, key, call, create: unused, outcome: unused, result: unused }
      return hostOf(await age.sibling(asAge, { scopes: VERIFY_SCOPES, ...wanted }))
    },
    async conclude(sessionId, end, progress) {
      const { sessions, verification } = harness.wire
      const ended = await verificationSessionsIn(sessions.service).whileLocked(sessionId, async (tx, found) => {
        assert.ok(!isPurged(found))
        const known = progress ? { ...EMPTY, ...found.progress, ...progress } : found.progress
        return verification.ending.conclude(tx, { ...found, progress: known }, end)
      })
      assert.ok(ended)
      return ended.state
    },
    async delivered(sessionId) {
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
