import type { VerificationFacts, VerificationType } from '@ostiary/contract'
import { encodeVector, signLocalProof } from '@ostiary/crypto'
import type { Completion } from '../flow/verification-part.ts'
import { createLocalKeys, isSamePerson, type LocalKeys, makeToken, openToken } from './token.ts'
import type { TokenShelf } from './token-shelf.ts'

export interface LocalClaimsOptions {
  sessionId: string
  type: VerificationType
  facts: Pick<VerificationFacts, 'realm' | 'version' | 'matching'>
  tokens: TokenShelf
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

  /** Whoever enrols again is known by the key that is kept already: the service takes no other one for a face alone. */
  async function knows(vector: Float32Array): Promise<boolean> {
    const token = await tokens.find(realm)
    const known = token && (await openToken(token, realm))
    const isKnown = known ? isSamePerson(vector, known) : false
    known?.fill(0)
    return isKnown
  }

  return {
    /** `vector` is wiped by whoever gives it. */
    async claimsFor(vector: Float32Array, nonce: string): Promise<Completion['claims']> {
      const local = type === 'ENROLL' ? await enrolled(vector) : await compared(vector, nonce)
      const isEnough = claimedHit && matching === 'local_first' && !wasRefused
      return isEnough ? local : { ...local, face: { version, vector: encodeVector(vector) } }
    },
    /** The service did not take it for the person: a hit here was wrong, or is not believed any more. */
    async refused(): Promise<void> {
      wasRefused = true
      if (claimedHit) await tokens.forget(realm)
      claimedHit = false
    },
    /** A token is kept only where a face was enrolled. */
    async end(isSuccess: boolean): Promise<void> {
      const done = enrolling
      enrolling = null
      if (!done) return
      if (isSuccess && !(await knows(done.vector))) {
        await tokens.keep(realm, await makeToken({ realm, ...done, atMs: nowMs() }))
      }
      done.vector.fill(0)
    },
    /** Another device goes on: what was seen here will be nobody's enrolment. */
    drop(): void {
      enrolling?.vector.fill(0)
      enrolling = null
    },
  }
}
export type LocalClaims = ReturnType<typeof createLocalClaims>
