import type { TokenBegun, TokenProbeBody } from '@ostiary/contract'
import { decodeBytes } from '@ostiary/crypto'
import { comparisonOf, enrolmentOf, type MadeToken, type TokenKeys, type TokenMessage } from '@ostiary/device'

/** What the page asks the worker for. */
export interface TokenJob {
  begun: TokenBegun
  keys: TokenKeys
  /** The worker's own copy. */
  vector: Float32Array
}

/** A new token and a probe of the same face. */
export interface EnrolJob extends TokenJob {
  ask: 'enrol'
}

/** A probe under the token's public key. */
export interface ProbeJob extends TokenJob {
  ask: 'probe'
  sealedToken: string | null
}

export type EnrolMessage = Awaited<ReturnType<typeof enrolmentOf>>
export type ProbeMessage = TokenMessage<TokenProbeBody>

/** The two functions of @ostiary/token that make something of a face. */
export interface TokenFunctions {
  createToken(tokenId: Uint8Array, vector: ArrayLike<number>): Promise<Omit<MadeToken, 'probe'>>
  createProbe(publicKey: Uint8Array, vector: ArrayLike<number>): Promise<Uint8Array>
}

/**
 * Encrypts, signs and seals. The key holder's share is sealed here: outside the worker nobody has both shares, or this one unsealed. Vector and
 * share are overwritten afterwards, as far as a script can do that.
 */
export async function makeMessage(
  job: EnrolJob | ProbeJob,
  { createToken, createProbe }: TokenFunctions,
): Promise<EnrolMessage | ProbeMessage> {
  const { begun, keys, vector } = job
  try {
    if (job.ask === 'probe') {
      const probe = await createProbe(decodeBytes(begun.publicKey ?? ''), vector)
      return await comparisonOf(begun, keys, { probe, sealedToken: job.sealedToken })
    }
    const token = await createToken(decodeBytes(begun.tokenId), vector)
    try {
      return await enrolmentOf(begun, keys, { ...token, probe: await createProbe(token.publicKey, vector) })
    } finally {
      token.keyShare.fill(0)
    }
  } finally {
    vector.fill(0)
  }
}
