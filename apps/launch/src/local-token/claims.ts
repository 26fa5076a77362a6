import type { VerificationFacts, VerificationType } from '@ostiary/contract'
import { signLocalProof } from '@ostiary/crypto'
import type { Completion } from '../flow/verification-part.ts'
import { createLocalKeys, isSamePerson, type LocalKeys, makeToken, openToken } from './token.ts'
import type { TokenStorage } from './token-storage.ts'

export interface LocalClaimsOptions {
  sessionId: string
  type: VerificationType
  facts: Pick<VerificationFacts, 'realm' | 'matching'>
  tokens: TokenStorage
  /** What the service compares or keeps: the vector itself, or what is sent instead of it. */
  forService(vector: Float32Array, nonce: string): Promise<Completion['claims']>
  nowMs(): number
}

/** A token that is stored when its enrolment succeeds. */
interface Enrolling {
  vector: Float32Array
  keys: LocalKeys
}

/**
 * What this browser claims about a face: the result of the comparison on the device, and what the service compares. If a local hit is enough,
 * the latter is withheld. Vectors are wiped as soon as they are no longer needed.
 */
export function createLocalClaims({ sessionId, type, facts, tokens, forService, nowMs }: LocalClaimsOptions) {
  const { realm, matching } = facts
  let enrolling: Enrolling | null = null
  let claimedHit = false
  let wasRefused = false
  /** The withheld vector, kept until the service has said whether it wants something of it. */
  let withheld: { vector: Float32Array; nonce: string } | null = null

  /** Proves that this browser has the private half, so that nobody enrols a key of somebody else. */
  async function enrolled(vector: Float32Array, nonce: string): Promise<Completion['claims']> {
    const keys = enrolling?.keys ?? (await createLocalKeys())
    enrolling?.vector.fill(0)
    enrolling = { vector: vector.slice(), keys }
    const { privateKey, publicKey: key } = keys
    // Nothing was compared, so the signature is of no hit.
    const localProof = await signLocalProof(privateKey, { key, sessionId, nonce, hit: false })
    return { local: { key }, metadata: { localProof } }
  }

  async function compared(vector: Float32Array, nonce: string): Promise<Completion['claims']> {
    claimedHit = false
    const token = await tokens.find(realm)
    const known = token && (await openToken(token, realm))
    if (!token || !known) return {}
    const hit = isSamePerson(vector, known)
    known.fill(0)
    claimedHit = hit
    const { privateKey, publicKey } = token.keys
    return { local: { hit, proof: await signLocalProof(privateKey, { key: publicKey, sessionId, nonce, hit }) } }
  }

  function settled(): void {
    withheld?.vector.fill(0)
    withheld = null
  }

  return {
    /** The caller wipes `vector`. */
    async claimsFor(vector: Float32Array, nonce: string): Promise<Completion['claims']> {
      const local = type === 'ENROLL' ? await enrolled(vector, nonce) : await compared(vector, nonce)
      const isEnough = claimedHit && matching === 'local_first' && !wasRefused
      settled()
      if (isEnough) withheld = { vector: vector.slice(), nonce }
      return isEnough ? local : { ...local, ...(await forService(vector, nonce)) }
    },
    /** Whether a local hit may be all that the service asks for. */
    mayBeEnough: async (): Promise<boolean> =>
      type !== 'ENROLL' && matching === 'local_first' && !wasRefused && (await tokens.find(realm)) !== undefined,
    /** The service does not know the token's key: deletes the token and returns what was withheld instead of the claim. */
    async unknown(): Promise<Completion['claims'] | undefined> {
      if (!withheld) return undefined
      const { vector, nonce } = withheld
      withheld = null
      wasRefused = true
      claimedHit = false
      void tokens.forget(realm)
      try {
        return await forService(vector, nonce)
      } finally {
        vector.fill(0)
      }
    },
    /** The service has judged and does not want the withheld vector. */
    settled,
    /** The service did not recognise the person: a local hit was wrong or is no longer accepted. */
    async refused(): Promise<void> {
      wasRefused = true
      if (claimedHit) await tokens.forget(realm)
      claimedHit = false
    },
    /**
     * Stores the token if the service has recorded its key, and replaces any older one: that may be of a deleted person. If the
     * person was enrolled already, the stored token stays.
     */
    async end(isBound: boolean): Promise<void> {
      const done = enrolling
      enrolling = null
      settled()
      if (!done) return
      if (isBound) await tokens.keep(realm, await makeToken({ realm, ...done, atMs: nowMs() }))
      done.vector.fill(0)
    },
    /** Another device takes over: the face seen here will not be enrolled. */
    drop(): void {
      settled()
      enrolling?.vector.fill(0)
      enrolling = null
    },
  }
}
