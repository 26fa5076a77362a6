import { hash } from 'node:crypto'
import type { DeviceKey, TokenVerdict } from '@ostiary/contract'
import { type SignedProbe, verifyTokenStatement } from '@ostiary/crypto'
import { FORMAT, MODEL_FACE3_3, probeFault, TokenFormatError, tokenIdOf } from '@ostiary/token'
import type { Queryable } from '../platform/db.ts'
import type { Platform } from '../platform/platform.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import type { Evaluations } from './evaluations.ts'
import type { KeyHolderClient } from './key-holder-client.ts'
import { placeOf } from './place.ts'
import { realmOf } from './realm.ts'
import { tokenStore } from './store.ts'
import { newSecret, openParts, sealParts, sealPerson, sealToken, type TokenPlace } from './token-row.ts'

interface Deps extends Pick<Platform, 'cells' | 'clock' | 'vault'> {
  keyHolder: KeyHolderClient
  evaluations: Pick<Evaluations, 'evaluate' | 'enter'>
}

/** What the device sends at an enrolment. Everything is a claim. */
export interface NewToken {
  sessionId: string
  account: string
  tokenId: string
  keyHolderNonce: string
  matcherNonce: string
  token: Uint8Array
  publicKey: Uint8Array
  matcherShare: Uint8Array
  probe: Uint8Array
  deviceKey: DeviceKey
  signature: string
  /** For the key holder: we cannot read it. */
  sealed: string
  /** Where the token is kept. */
  storage: 'server' | 'device'
}

export type EnrolledToken = { verdict: TokenVerdict; sealedToken: Buffer | null; probeHash: string }

/**
 * A new token. Its row is stored first and pending, so that the matcher knows every id whose share the key holder may have; then the
 * key holder stores its share and tests that token and probe carry one face. The row becomes the person's with the person (`activate`).
 */
export function createTokenEnrolment({ cells, clock, vault, keyHolder, evaluations }: Deps) {
  /** False if a signature, an id or a hash does not hold. */
  async function isSound(owner: TenantData, given: NewToken, hashes: Record<'probe' | 'token' | 'publicKey', string>) {
    const id = Buffer.from(given.tokenId, 'base64url')
    const parts = [given.token, given.publicKey, given.matcherShare]
    if (probeFault(given.probe, id) !== undefined || !parts.every((part) => idIn(part).equals(id))) return false
    const { account, tokenId, keyHolderNonce, matcherNonce } = given
    const signed: SignedProbe = {
      realm: realmOf(owner),
      account,
      tokenId,
      keyHolderNonce,
      matcherNonce,
      probeHash: hashes.probe,
    }
    return verifyTokenStatement(given.deviceKey, given.signature, {
      purpose: 'enrol',
      ...signed,
      tokenHash: hashes.token,
      publicKeyHash: hashes.publicKey,
    })
  }

  /** The secret of the row: of the stored one, where the device sends the same token again. Undefined for another token. */
  async function storePending(owner: TenantData, given: NewToken, place: TokenPlace, tokenHash: Buffer) {
    const db = cells.forId(owner.tenantId)
    const { publicKey, matcherShare, token, sessionId, storage } = given
    const secret = newSecret()
    const sealedToken = sealToken(secret, place, token)
    const row = {
      ...(await sealParts(vault, place, { publicKey, matcherShare, secret })),
      tokenId: Buffer.from(given.tokenId, 'base64url'),
      account: Buffer.from(given.account, 'base64url'),
      sessionId,
      model: place.model,
      format: place.format,
      tokenHash,
      deviceKey: Buffer.from(place.deviceKey, 'base64url'),
      sealedToken: storage === 'server' ? sealedToken : null,
      now: clock.now(),
    }
    if ((await tokenStore.insert(db, owner, row)) > 0) return { secret, sealedToken }
    const known = await tokenStore.find(db, owner, row.tokenId)
    const isSame = known?.personId === null && known.tokenHash.equals(tokenHash) && known.sessionId === sessionId
    if (!isSame || !known.deviceKey.equals(row.deviceKey)) return undefined
    const parts = await openParts(vault, place, known)
    return { secret: parts.secret, sealedToken: known.sealedToken ?? sealToken(parts.secret, place, token) }
  }

  return {
    enterQueue: evaluations.enter,

    async enrol(owner: TenantData, given: NewToken): Promise<EnrolledToken> {
      const hashes = { probe: hashOf(given.probe), token: hashOf(given.token), publicKey: hashOf(given.publicKey) }
      const refused = { verdict: 'reject', sealedToken: null, probeHash: hashes.probe } as const
      if (!(await isSound(owner, given, hashes))) return refused
      const { account, tokenId, token, publicKey, matcherShare, probe, sealed, storage } = given
      const deviceKey = Buffer.concat(
        [given.deviceKey.x, given.deviceKey.y].map((part) => Buffer.from(part, 'base64url')),
      )
      const place = placeOf(owner, {
        account: Buffer.from(account, 'base64url'),
        tokenId: Buffer.from(tokenId, 'base64url'),
        model: MODEL_FACE3_3,
        format: FORMAT,
        deviceKey,
      })
      const kept = await storePending(owner, given, place, Buffer.from(hashes.token, 'base64url'))
      if (!kept) return refused
      const { secret, sealedToken } = kept
      try {
        const input = { token, publicKey, matcherShare, probe, secret, isEnrolment: true }
        const evaluation = await evaluations.evaluate(owner.tenantId, input)
        const header = { realm: realmOf(owner), account, tokenId, sealed }
        const verdict = await keyHolder.enrol(header, { token, probe, evaluation })
        return { verdict, sealedToken: storage === 'device' ? sealedToken : null, probeHash: hashes.probe }
      } catch (error) {
        if (error instanceof TokenFormatError) return refused
        throw error
      }
    },

    /** The key holder keeps its share from now on. False if it has none. */
    confirm: (owner: TenantData, tokenId: string): Promise<boolean> => keyHolder.confirm(realmOf(owner), tokenId),

    /** In the transaction that creates the person. False if there is no such token of this session. */
    async activate(
      tx: Queryable,
      owner: TenantData,
      { tokenId, personId, sessionId }: { tokenId: string; personId: string; sessionId: string },
    ): Promise<boolean> {
      const id = Buffer.from(tokenId, 'base64url')
      const row = await tokenStore.find(tx, owner, id)
      if (!row) return false
      const place = placeOf(owner, row)
      const { secret } = await openParts(vault, place, row)
      const personSeal = sealPerson(secret, place, personId)
      return tokenStore.activate(tx, owner, id, { personId, personSeal, sessionId })
    },
  }
}

export const hashOf = (bytes: Uint8Array): string => hash('sha256', bytes, 'base64url')

const NO_ID = Buffer.alloc(0)

function idIn(part: Uint8Array): Buffer {
  try {
    return Buffer.from(tokenIdOf(part))
  } catch {
    return NO_ID
  }
}
