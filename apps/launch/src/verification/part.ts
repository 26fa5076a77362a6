import type { VerificationFacts, VerificationType } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { encodeVector } from '@ostiary/crypto'
import type { Completion, VerificationLink, VerificationPart } from '../flow/verification-part.ts'
import { createLocalClaims } from '../local-token/claims.ts'
import type { BrowserApis } from './browser-apis.ts'
import { createPasskeyStep } from './passkey-step.ts'
import { createPopOut } from './pop-out.ts'
import { watchConditions } from './watch-conditions.ts'

/** The service did not recognise the face as the person that this browser knows. */
const NOT_THE_PERSON: readonly number[] = [codes.FACE_NOT_MATCH, codes.USER_NOT_ENROLLED]

/** The state after a submit whose claim is not enough: the service does not know the local token's key and wants the vector or a probe. */
const VECTOR_WANTED = 'FACE_ACTIVE'

/** What ENROLL, SIGN-IN and VERIFY add to the flow. */
export function createVerification(link: VerificationLink, apis: BrowserApis): VerificationPart {
  const { deps, store, opened } = link
  const { type, facts } = factsOf(opened)
  const passkey = createPasskeyStep(link, apis.passkeys)
  const popOut = createPopOut(store, apis)
  const { sessionId } = opened
  const { nowMs } = deps.clock
  /** Ends with the try whose face is being sent. */
  let trySignal = link.signal
  const tokens = apis.createTokens?.({
    ...{ sessionId, type, realm: facts.realm, migrates: facts.migrates === true, nowMs },
    ...{ call: link.session.call, wait: deps.page.wait },
  })
  const local = createLocalClaims({
    ...{ sessionId, type, facts, tokens: apis.tokens, nowMs },
    async forService(vector, nonce) {
      const { withVector, ...claims } = tokens
        ? await tokens.claimsFor({ vector, nonce, signal: trySignal })
        : { withVector: true }
      return withVector ? { ...claims, face: { version: facts.version, vector: encodeVector(vector) } } : claims
    },
  })
  const conditions = watchConditions(store, apis.sensors)
  const { requirements } = opened
  const mustPopOut = apis.isFramed && requirements.includes('passkey')
  store.patch({ verification: { ...facts, type, requirements, mustPopOut } })
  store.onEnter((state) => {
    if (state.at === 'passkey' && (state.status === 'prime' || state.status === 'refused')) passkey.enter()
    if (state.at !== 'passkey') passkey.leave()
    if (state.at !== 'handoff' && state.at !== 'viewer') return
    local.drop()
    tokens?.drop()
  })

  async function complete(nonce: string, signal: AbortSignal): Promise<Completion> {
    const vector = await deps.engine.embed(facts.version)
    trySignal = signal
    try {
      const claims = conditions.addTo(await local.claimsFor(vector, nonce))
      return facts.sendImages ? { claims, selfie: await deps.engine.selfie() } : { claims }
    } finally {
      vector.fill(0)
      trySignal = link.signal
      // The engine forgets its samples, including their vectors and the picture.
      await deps.engine.begin()
    }
  }

  return {
    async obstacle() {
      const found = await tokens?.obstacle()
      return found && (await local.mayBeEnough()) ? undefined : found
    },
    complete,
    seen: conditions.seen,
    async judged({ state, errors }) {
      if (state === VECTOR_WANTED) {
        const claims = await local.unknown()
        return claims && conditions.addTo(claims)
      }
      local.settled()
      if (errors.some((code) => NOT_THE_PERSON.includes(code))) void local.refused()
      return undefined
    },
    askPasskey: () => void passkey.ask(),
    skipPasskey: () => void passkey.skip(),
    popOut,
    async end(session) {
      await Promise.all([local.end(session?.localKeyBound === true), tokens?.end(session?.tokenBound === true)])
    },
  }
}

function factsOf({ type, verification }: VerificationLink['opened']): {
  type: VerificationType
  facts: VerificationFacts
} {
  if (type === 'AGE' || verification === null) throw new Error('An age check needs none of this')
  return { type, facts: verification }
}
