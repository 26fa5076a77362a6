import type { DeviceKey } from '@ostiary/contract'
import { LAUNCH_LIMITS, TOKEN_SIZES, type TokenBegun, type TokenEnrolled } from '@ostiary/contract'
import type { MatcherRoom } from '../matcher/index.ts'
import { realmOf } from '../matcher/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import type { Ids } from '../platform/ids.ts'
import {
  notAtThisStep,
  type ReplyingStep,
  type RunningSession,
  type Session,
  type Sessions,
  type Step,
} from '../sessions/index.ts'
import { mayMigrate, usesTokens } from './matching.ts'
import { type TokenProgress, type VerificationProgress, verificationOf, withVerification } from './progress.ts'
import { type RunningVerification, verificationSessionsIn } from './types.ts'
import type { Work } from './work.ts'

/** What the calls about a token carry, as `launch` gets it. */
export interface BeginBody {
  tokenId?: string
  proof?: string
  for?: 'successor'
}

export interface EnrolBody {
  token: string
  publicKey: string
  matcherShare: string
  probe: string
  deviceKey: DeviceKey
  signature: string
  sealed: string
}

export interface ProbeBody {
  probe: string
  signature: string
  sealed: string
  sealedToken?: string
}

/** The key holder's part of a begin: fetched before the session is locked, because it is a call to another service. */
export interface TokenOffer {
  tokenId: string
  keyHolderNonce: string
  keyHolderKey: DeviceKey
}

/** What a begin leads to. */
interface Begun {
  token: TokenProgress
  publicKey: string | null
  isOnDevice: boolean
  renewalDue: boolean
}

interface Deps {
  sessions: Sessions
  matcher: Pick<MatcherRoom, 'keyHolder' | 'enrolment' | 'comparison'>
  work: Work
  clock: Clock
  ids: Ids
}

const ID_BYTES = 16
const NONCE_BYTES = 32

/** The token in the device API: what `launch` calls while a challenge of the face step is under way. */
export function createTokenSteps({ sessions, matcher, work, clock, ids }: Deps) {
  const { isOwn } = verificationSessionsIn(sessions)
  const random = (bytes: number) => Buffer.from(ids.randomBytes(bytes)).toString('base64url')

  function atFaceStep(session: RunningSession): RunningVerification {
    if (session.state !== 'FACE_ACTIVE' || !isOwn(session) || !usesTokens(session.request)) throw notAtThisStep()
    const { challenge } = session.progress
    if (!challenge || challenge.isLook || clock.now().getTime() > challenge.expiresAtMs)
      throw new AppError('conflict', 'CHALLENGE_NOT_VALID', 'There is no challenge under way')
    return session
  }

  const begunIn = (session: RunningVerification, which: 'token' | 'successor'): TokenProgress => {
    const token = verificationOf(session.progress)[which]
    if (!token || token.nonce !== session.progress.challenge?.nonce) throw refused()
    return token
  }

  const withChange = (session: RunningVerification, change: Partial<VerificationProgress>) => ({
    state: session.state,
    progress: withVerification(session.progress, change),
  })

  /** New ids for a new token. The account is that of the token it replaces, or of a person who has none yet. */
  function beginEnrolment(session: RunningVerification, offer: TokenOffer): Begun {
    const { token: replaced } = verificationOf(session.progress)
    const isRenewal = session.request.type !== 'ENROLL' && replaced?.nonce === session.progress.challenge?.nonce
    if (session.request.type !== 'ENROLL' && !isRenewal && !mayMigrate(session.request)) throw notAtThisStep()
    const person = isRenewal && replaced ? replaced : { account: random(ID_BYTES), puid: null }
    const token = { ...offerOf(session, offer), account: person.account, puid: person.puid }
    const isOnDevice = session.request.policy.templates === 'token_on_device'
    return { token, publicKey: null, isOnDevice, renewalDue: false }
  }

  async function beginComparison(
    tx: Queryable,
    session: RunningVerification,
    offer: TokenOffer,
    proof: string | undefined,
  ) {
    const nonce = session.progress.challenge?.nonce ?? ''
    const { sessionId } = session
    const shown =
      proof === undefined
        ? undefined
        : await matcher.comparison.findShown(tx, session, { sessionId, nonce, tokenId: offer.tokenId, proof })
    const named = await work.findNamed(session, tx)
    const isNamed = session.request.person !== null
    // The host named somebody else than the person whose token this device holds.
    if (!shown || (isNamed && named?.puid !== shown.puid)) throw noToken()
    const token = { ...offerOf(session, offer), account: shown.account, puid: shown.puid }
    return {
      token,
      publicKey: Buffer.from(shown.publicKey).toString('base64url'),
      isOnDevice: shown.isOnDevice,
      renewalDue: shown.renewalDue,
    }
  }

  function offerOf({ progress }: RunningVerification, { tokenId, keyHolderNonce }: TokenOffer) {
    const nonce = progress.challenge?.nonce ?? ''
    return { tokenId, nonce, keyHolderNonce, matcherNonce: random(NONCE_BYTES), probeHash: null }
  }

  return {
    /** Asks the key holder for a nonce. Undefined for a session that is not at this step: `begin` says why. */
    async offer(session: Session, { tokenId, ...body }: BeginBody): Promise<TokenOffer | undefined> {
      if (session.state !== 'FACE_ACTIVE' || !isOwn(session) || !usesTokens(session.request)) return undefined
      const isNew = session.request.type === 'ENROLL' || body.for === 'successor'
      const id = isNew ? random(ID_BYTES) : tokenId
      if (id === undefined) return undefined
      const keyHolderNonce = await matcher.keyHolder.nonce(realmOf(session), id)
      return { tokenId: id, keyHolderNonce, keyHolderKey: (await matcher.keyHolder.key()).sealKey }
    },

    async begin(
      tx: Queryable,
      session: RunningSession,
      { offer, body }: { offer: TokenOffer | undefined; body: BeginBody },
    ): Promise<ReplyingStep<TokenBegun>> {
      const own = atFaceStep(session)
      if (!offer) throw noToken()
      const isSuccessor = own.request.type !== 'ENROLL' && body.for === 'successor'
      const isNew = own.request.type === 'ENROLL' || isSuccessor
      const { token, publicKey, isOnDevice, renewalDue } = isNew
        ? beginEnrolment(own, offer)
        : await beginComparison(tx, own, offer, body.proof)
      const { tokenId, account, matcherNonce, keyHolderNonce } = token
      return {
        ...withChange(own, isSuccessor ? { successor: token } : { token, successor: null }),
        reply: {
          tokenId,
          account,
          realm: realmOf(own),
          matcherNonce,
          keyHolderNonce,
          keyHolderKey: offer.keyHolderKey,
          publicKey,
          ...(renewalDue && { renewalDue }),
          wantsToken: isOnDevice,
        },
      }
    },

    /** Throws where too many tokens of the tenant wait for their evaluation. Returns what leaves the queue. */
    enterQueue: ({ tenantId }: Session): (() => void) => matcher.enrolment.enterQueue(tenantId),

    /** Checks that the call is in place. The work of the enrolment follows outside of the lock. */
    beginEnrol(session: RunningSession) {
      const own = atFaceStep(session)
      const which = own.request.type === 'ENROLL' ? 'token' : 'successor'
      const begun = begunIn(own, which)
      const { tokenEnrolments } = verificationOf(own.progress)
      // Counted before it is evaluated: the same body may come again when its answer was lost, but not for ever.
      if (tokenEnrolments >= LAUNCH_LIMITS.tokenEnrolments) throw refused()
      return { ...withChange(own, { tokenEnrolments: tokenEnrolments + 1 }), reply: { session: own, begun } }
    },

    /** Slow: evaluates, and asks the key holder. */
    async enrol(session: Session, begun: TokenProgress, body: EnrolBody) {
      if (!isOwn(session)) throw notAtThisStep()
      const { account, tokenId, keyHolderNonce, matcherNonce } = begun
      const { verdict, sealedToken, probeHash } = await matcher.enrolment.enrol(session, {
        sessionId: session.sessionId,
        ...{ account, tokenId, keyHolderNonce, matcherNonce },
        token: bytesOf(body.token),
        publicKey: bytesOf(body.publicKey),
        matcherShare: bytesOf(body.matcherShare),
        probe: bytesOf(body.probe),
        deviceKey: body.deviceKey,
        signature: body.signature,
        sealed: body.sealed,
        storage: session.request.policy.templates === 'token_on_device' ? 'device' : 'server',
      })
      if (verdict !== 'accept') throw refused()
      const enrolled: TokenEnrolled = { tokenId, sealedToken: sealedToken?.toString('base64url') ?? null }
      return { enrolled, probeHash }
    },

    /** Undefined when the session has moved on meanwhile. */
    enrolled(session: RunningSession, tokenId: string, probeHash: string): Step | undefined {
      if (session.state !== 'FACE_ACTIVE' || !isOwn(session)) return undefined
      const { token, successor } = verificationOf(session.progress)
      if (successor?.tokenId === tokenId) return withChange(session, { successor: { ...successor, probeHash } })
      return token?.tokenId === tokenId ? withChange(session, { token: { ...token, probeHash } }) : undefined
    },

    async probe(tx: Queryable, session: RunningSession, body: ProbeBody): Promise<ReplyingStep<{ tokenId: string }>> {
      const own = atFaceStep(session)
      if (own.request.type === 'ENROLL') throw notAtThisStep()
      const token = begunIn(own, 'token')
      const { account, tokenId, keyHolderNonce, matcherNonce } = token
      const stored = await matcher.comparison.storeProbe(tx, own, {
        sessionId: own.sessionId,
        ...{ account, tokenId, keyHolderNonce, matcherNonce },
        probe: bytesOf(body.probe),
        signature: body.signature,
        sealed: body.sealed,
        sealedToken: body.sealedToken === undefined ? null : bytesOf(body.sealedToken),
      })
      const next = withChange(own, { token: { ...token, probeHash: stored?.probeHash ?? null } })
      return stored ? { ...next, reply: { tokenId } } : { ...next, refuse: refused() }
    },
  }
}
export type TokenSteps = ReturnType<typeof createTokenSteps>

/** The bodies of these calls are larger than others. */
export const TOKEN_BODY_BYTES = { enrol: TOKEN_SIZES.enrolBytes, probe: TOKEN_SIZES.probeBytes } as const

const bytesOf = (text: string) => Buffer.from(text, 'base64url')

/** Never says which check failed. */
const refused = () => new AppError('conflict', 'TOKEN_REFUSED', 'The token or the probe was refused')

/** The same for an unknown token, a wrong proof and another person's token. */
const noToken = () => new AppError('not_found', 'NO_TOKEN', 'This device holds no key of a token that fits the session')
