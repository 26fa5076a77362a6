/** An installation with a key holder, and people who are enrolled by token. Only tests import this. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import type { LaunchState, TenantSettingsPatch, VerificationType, VerificationWebhook } from '@ostiary/contract'
import { comparisonOf, type DeviceOptions, type TokenKeys } from '@ostiary/device'
import { createTokenKeeper, type KeptToken, type TokenFunctions, type TokenKeeper } from '@ostiary/device/simulated'
import { startKeyHolder } from '@ostiary/testkit/key-holder'
import { startKeyHolderRelay } from '@ostiary/testkit/key-holder-relay'
import { createProbe, createToken, type EnrolledToken } from '@ostiary/token'
import pg from 'pg'
import { createFaces } from '../../biometrics/testing/faces.ts'
import { createVerificationFixture, type VerificationHost } from '../../verification/testing/fixture.ts'
import { visit } from '../../verification/testing/people.ts'

const NONCE = 'M'.repeat(43)

/** A person, their browser, and what a test knows of the token beside. */
export interface TokenUser {
  face: readonly number[]
  keeper: TokenKeeper
  puid: string
  /** What the browser keeps. */
  kept: KeptToken
  /** What the browser made, with the key holder's share: no service has all of it. */
  made: EnrolledToken
}

/** How a user's software differs from an honest one. */
export interface Cheating {
  createProbe?: TokenFunctions['createProbe']
  keeper?: TokenKeeper
  options?: Partial<DeviceOptions>
}

/** The key holder is behind a relay, so that a test can see what it is asked and let it cheat. */
export async function createTokenFixture(logName: string) {
  const keyHolder = await startKeyHolder({ logName, clusterUrl: process.env.OSTIARY_TEST_CLUSTER ?? '' })
  const relay = await startKeyHolderRelay(keyHolder)
  const fixture = await createVerificationFixture({
    KEY_HOLDER_URL: relay.url,
    KEY_HOLDER_KEY: relay.serviceKey,
    KEY_HOLDER_CLIENT_KEY: keyHolder.matcherSeed,
  })
  after(async () => {
    await relay.close()
    await keyHolder.remove()
  })
  const faces = createFaces(17)
  const { database } = fixture.harness
  const { published } = keyHolder

  /** One session from its creation to its webhook. */
  async function run(
    host: VerificationHost,
    type: VerificationType,
    user: Pick<TokenUser, 'face' | 'keeper'>,
    { cheating = {}, functions = {} }: { cheating?: Cheating; functions?: Partial<TokenFunctions> } = {},
  ) {
    const { sessionId } = await host.create(type)
    const made: TokenFunctions = {
      createToken,
      createProbe,
      ...functions,
      ...(cheating.createProbe && { createProbe: cheating.createProbe }),
    }
    const keeper = cheating.keeper ?? user.keeper
    const tokens = { functions: made, keeper, fingerprints: [published.fingerprint] }
    const state: LaunchState = await visit(fixture, sessionId, user.face, { tokens }, cheating.options)
    // A device that gives up leaves its session open.
    const webhook: Partial<VerificationWebhook> = state.flowStatus === null ? {} : await host.webhook(sessionId)
    return { state, webhook }
  }

  return {
    ...fixture,
    keyHolder,
    relay,
    faces,
    newHost: (settings: TenantSettingsPatch = {}) => fixture.newHost({ settings: { templates: 'token', ...settings } }),

    async enrol(host: VerificationHost): Promise<TokenUser> {
      const face = faces.person()
      const own = createTokenKeeper()
      let kept: KeptToken | undefined
      let made: EnrolledToken | undefined
      const keep = (token: KeptToken) => {
        kept = token
        return own.keep(token)
      }
      const make = async (id: Uint8Array, vector: ArrayLike<number>) => {
        made = await createToken(id, vector)
        return made
      }
      const keeper = { find: own.find, keep }
      const { state, webhook } = await run(host, 'ENROLL', { face, keeper }, { functions: { createToken: make } })
      assert.equal(state.state, 'SUCCESS', JSON.stringify(state))
      assert.ok(webhook.puid && kept && made)
      return { face, keeper, puid: webhook.puid, kept, made }
    },

    /** A sign-in with another picture of the user's face. */
    signIn: (host: VerificationHost, user: Pick<TokenUser, 'face' | 'keeper'>, cheating: Cheating = {}) =>
      run(host, 'SIGN-IN', { ...user, face: faces.sample(user.face) }, { cheating }),

    /**
     * Hands a probe to the matcher as a session would, and says what it answers. `keys`: a device that signs with others than the
     * token's. Undefined: it was not taken.
     */
    async sendProbe(host: VerificationHost, { kept }: TokenUser, probe: Uint8Array, keys: TokenKeys = kept.keys) {
      const { cells } = fixture.harness.wire.platform
      const { keyHolder, comparison } = fixture.harness.wire.matcher
      const owner = { tenantId: host.tenantId, livemode: false }
      const { account, realm, tokenId } = kept
      const nonces = { keyHolderNonce: await keyHolder.nonce(realm, tokenId), matcherNonce: NONCE }
      const begun = { ...kept, ...nonces, keyHolderKey: (await keyHolder.key()).sealKey }
      const { body } = await comparisonOf({ ...begun, publicKey: null, wantsToken: false }, keys, {
        probe,
        sealedToken: null,
      })
      const sessionId = randomUUID()
      const { signature, sealed } = body
      const given = { sessionId, account, tokenId, ...nonces, probe, signature, sealed, sealedToken: null }
      const stored = await cells.forId(owner.tenantId).transaction((tx) => comparison.storeProbe(tx, owner, given))
      return stored && { compare: () => comparison.compare(owner, { sessionId, probeHash: stored.probeHash }) }
    },

    atKeyHolder: async (text: string, values: unknown[] = []) => {
      const client = new pg.Client(keyHolder.databaseUrl)
      await client.connect()
      try {
        return (await client.query(text, values)).rows
      } finally {
        await client.end()
      }
    },

    rows: async (text: string, values: unknown[] = []) => (await database.query(text, values)).rows,
  }
}
