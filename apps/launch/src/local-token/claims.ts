import type { VerificationFacts, VerificationType } from '@ostiary/contract'
import { encodeVector, signLocalProof } from '@ostiary/crypto'
import type { Completion } from '../flow/verification-part.ts'
import { createLocalKeys, isSamePerson, type LocalKeys, makeToken, openToken } from './token.ts'
import type { TokenStorage } from './token-storage.ts'

export interface LocalClaimsOptions {
  sessionId: string
  type: VerificationType
  facts: Pick<VerificationFacts, 'realm' | 'version' | 'matching'>
  tokens: TokenStorage
  nowMs(): number
}

/** A face that waits for its enrolment to succeed. */
interface Enrolling {
  vector: Float32Array
  keys: LocalKeys
}

/**
 * What this browser says about a face: its vector, and what a comparison here found. Where a hit here is enough, the vector
 * stays. Vectors are wiped as soon as they are not needed any more.
 */
export function createLocalClaims({ sessionId, type, facts, tokens, nowMs }: LocalClaimsOptions) {
  const { realm, version, matching } = facts
  let enrolling: Enrolling | null = null
  let claimedHit = false
  let wasRefused = false
  /** Not sent, and kept until the service has said whether it wants it after all. */
  let withheld: Float32Array | null = null

  async function enrolled(vector: Float32Array): Promise<Completion['claims']> {
    const keys = enrolling?.keys ?? (await createLocalKeys())
    enrolling?.vector.fill(0)
    enrolling = { vector: vector.slice(), keys }
    return { local: { key: keys.publicKey } }
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

  const faceOf = (vector: Float32Array) => ({ version, vector: encodeVector(vector) })

  function settled(): void {
    withheld?.fill(0)
    withheld = null
  }

  return {
    /** `vector` is wiped by whoever gives it. */
    async claimsFor(vector: Float32Array, nonce: string): Promise<Completion['claims']> {
      const local = type === 'ENROLL' ? await enrolled(vector) : await compared(vector, nonce)
      const isEnough = claimedHit && matching === 'local_first' && !wasRefused
      settled()
      if (isEnough) withheld = vector.slice()
      return isEnough ? local : { ...local, face: faceOf(vector) }
    },
    /** The service does not know the token's key: the token goes, and the vector is sent in the place of its word. */
    unknown(): Completion['claims'] | undefined {
      if (!withheld) return undefined
      const face = faceOf(withheld)
      settled()
      wasRefused = true
      claimedHit = false
      void tokens.forget(realm)
      return { face }
    },
    /** The service has judged, and wants no vector that was left out. */
    settled,
    /** The service did not take it for the person: a hit here was wrong, or is not believed any more. */
    async refused(): Promise<void> {
      wasRefused = true
      if (claimedHit) await tokens.forget(realm)
      claimedHit = false
    },
    /**
     * A token is kept exactly where the service has put its key on record, and then in the place of any other: an older one
     * may be of a person who was deleted. Whoever was enrolled already keeps what this browser has of them.
     */
    async end(isBound: boolean): Promise<void> {
      const done = enrolling
      enrolling = null
      settled()
      if (!done) return
      if (isBound) await tokens.keep(realm, await makeToken({ realm, ...done, atMs: nowMs() }))
      done.vector.fill(0)
    },
    /** Another device goes on: what was seen here will be nobody's enrolment. */
    drop(): void {
      settled()
      enrolling?.vector.fill(0)
      enrolling = null
    },
  }
}
export type LocalClaims = ReturnType<typeof createLocalClaims>
