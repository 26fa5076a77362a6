import type {
  DocumentStep,
  LaunchEvent,
  LaunchState,
  OpenBody,
  OpenedSession,
  SealedLog,
  TokenBegun,
} from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { LAUNCH_API } from '@ostiary/contract/paths'
import { CHAIN_START, chainEvent, createSealKeyPair, openPayload } from '@ostiary/crypto'

export const SESSION_ID = '0198c5d2-3f77-7c4e-9b7e-3a5d5f0c1a2b'

const REDIRECT = `https://shop.example/back?sessionId=${SESSION_ID}`
export const SESSION: LaunchState = {
  sessionId: SESSION_ID,
  state: 'OPENED',
  role: 'holder',
  attempt: 0,
  attemptsLeft: 3,
  expiresAt: '2026-01-01T00:15:00.000Z',
  flowStatus: null,
  errors: [],
  redirectUrl: null,
  livemode: true,
}

/** What the document step asks for, unless a test says otherwise. */
export const DOCUMENT_STEP: DocumentStep = {
  nonce: 'd1',
  attempt: 1,
  attemptsLeft: 3,
  today: '2026-01-01',
  acceptedTypes: ['passport', 'national_id', 'residence_permit', 'drivers_license', 'other'],
  expiryGraceDays: 0,
  age: { threshold: 18, format: 'threshold' },
  match: { threshold: 0.42, betterLightFrom: 0.35, capture: 'n' },
  expiresAt: '2026-01-01T00:15:00.000Z',
}

export const ended = (
  flowStatus: NonNullable<LaunchState['flowStatus']>,
  errors: number[] = [],
): Partial<LaunchState> => ({
  state: flowStatus,
  flowStatus,
  errors,
  redirectUrl: REDIRECT,
})

const SEAL_LIMITS = { sessionId: SESSION_ID, maxBytes: 400_000, maxInflatedBytes: 400_000 }

/** What a session is for. */
export type Purpose = Pick<OpenedSession, 'type' | 'verification' | 'requirements' | 'document' | 'alternativeUrl'>
const AGE_CHECK: Purpose = { type: 'AGE', verification: null, requirements: ['face'] }

/** What the service answers to a call: a change of the session, an error, or no answer at all. */
export type Answer = Partial<OpenedSession> | { status: number; code: string } | 'no network' | object

/** The fields that the bodies of the calls have. */
export interface SentBody extends Partial<OpenBody> {
  accepted?: boolean
  version?: string
  events?: LaunchEvent[]
  sealed?: string
  selfie?: string
  response?: unknown
  code?: number
  number?: string
  for?: string
  attempt?: number
  cannot?: string[]
  pace?: string
  reason?: string
  tokenId?: string
  proof?: string
  signature?: string
  probe?: string
  publicKey?: string
  sealedToken?: string
}

export interface Call {
  path: string
  body: SentBody
}

/**
 * A service for tests: holds the session, answers every call with it, and records the calls. It takes the `answers` of a path
 * one after the other, and answers with success when none is left.
 */
export async function createService(
  answers: Record<string, Answer[]> = {},
  { type, verification, requirements, document = null, alternativeUrl = null }: Purpose = AGE_CHECK,
) {
  const { publicJwk, privateJwk } = await createSealKeyPair()
  const isAge = verification === null
  let session: LaunchState = SESSION
  const calls: Call[] = []
  /** Everything logged, in order, as the service has it: entries that came again count once. */
  const logged = new Map<string, LaunchEvent>()
  const streams = new Set<ReadableStreamDefaultController<Uint8Array>>()
  let step: Partial<DocumentStep> = {}
  let token: Partial<TokenBegun> & { sealedToken?: string } = {}
  let looks = 0

  function usual(path: string, body: SentBody): Partial<LaunchState> {
    if (path === 'consent')
      return body.accepted ? { state: isAge ? 'READY' : 'CONSENTED' } : ended('CANCELLED', [codes.CONSENT_DECLINED])
    if (path === 'challenge' && body.for === 'match') return {}
    if (path === 'challenge')
      return { state: 'FACE_ACTIVE', attempt: session.attempt + 1, attemptsLeft: session.attemptsLeft - 1 }
    if (path === 'submit' || path === 'passkey/verify' || path === 'document/submit')
      return {
        ...ended('COMPLETED'),
        ...(!isAge && { state: 'SUCCESS' }),
        ...(type === 'ENROLL' && { localKeyBound: true }),
        ...(calls.some((call) => call.path === 'token/enrol') && { tokenBound: true }),
      }
    if (path === 'cancel') return ended('CANCELLED', [codes.USER_CANCELLED])
    if (path === 'handoff') return { state: 'HANDOFF_WAIT', role: 'viewer' }
    if (path === 'take-back') return { state: 'OPENED', role: 'holder' }
    if (path === 'number') return { numberNeeded: false }
    return {}
  }

  const change = (part: Partial<LaunchState>) => {
    session = { ...session, errors: [], ...part }
    for (const stream of streams) stream.enqueue(eventOf(session))
  }

  const service: typeof fetch = async (input, init) => {
    const path = new URL(String(input)).pathname.replace(LAUNCH_API, '')
    init?.signal?.throwIfAborted()
    if (path === 'status') return new Response(streamOf(session, streams, init?.signal ?? null))
    const body = JSON.parse(new TextDecoder().decode(init?.body as Uint8Array<ArrayBuffer>))
    calls.push({ path, body })
    await take(body)
    const answer = answers[path]?.shift() ?? usual(path, body)
    if (answer === 'no network') throw new TypeError('no network')
    if (typeof answer === 'object' && 'status' in answer && 'code' in answer)
      return Response.json({ code: answer.code, message: answer.code }, { status: Number(answer.status) })
    change(answer)
    return Response.json(replyOf(path, body))
  }

  function replyOf(path: string, body: SentBody): object {
    if (path === 'open') {
      const facts = {
        type,
        verification,
        requirements,
        document,
        alternativeUrl,
        host: 'shop.example',
        handoff: true,
        locale: 'de',
        consentVersion: '1',
        eventsTravel: true,
        brand: null,
        embedOrigins: [],
      }
      return { ...facts, sealKey: publicJwk, ...session }
    }
    if (path === 'challenge')
      return {
        nonce: session.state === 'DOC_ACTIVE' ? `look${++looks}` : 'n',
        attempt: session.attempt,
        steps: [],
        sampleAtMs: [],
        expiresAt: session.expiresAt,
      }
    if (path.startsWith('token/')) return tokenReply(path, token, body.for === 'successor')
    if (path === 'document') return { ...DOCUMENT_STEP, ...step }
    if (path === 'passkey/options')
      return { mode: type === 'ENROLL' ? 'create' : 'get', options: { challenge: 'Y2hhbGxlbmdl' } }
    if (path === 'handoff')
      return {
        code: 'c',
        url: `https://id.example/launch/?sessionId=${SESSION_ID}#h=c`,
        expiresAt: '2026-01-01T00:05:00.000Z',
        number: '47',
        // An answer of a test may leave it out, as for a session of the last release.
        ...('number' in session && { number: session.number }),
      }
    return session
  }

  /** Takes the log of a call. Entries inside a sealed payload get their hashes here. */
  async function take({ events = [], sealed }: SentBody): Promise<void> {
    for (const entry of events) logged.set(entry.hash, entry)
    const payload = sealed && (await openPayload(privateJwk, sealed, SEAL_LIMITS).catch(() => undefined))
    const { seq, events: inside = [] } = (payload as { log?: SealedLog } | undefined)?.log ?? { seq: 0 }
    for (const [at, [t, type, n]] of inside.entries()) {
      const entry = { seq: seq - inside.length + 1 + at, t, type, ...(n !== undefined && { n }) }
      const before = [...logged.values()].findLast((one) => one.seq === entry.seq - 1)
      const chained = await chainEvent(before?.hash ?? CHAIN_START, entry)
      logged.set(chained.hash, chained)
    }
  }

  const entries = (): LaunchEvent[] => [...logged.values()]

  return {
    fetch: service,
    change,
    calls,
    paths: () => calls.map(({ path }) => path),
    bodies: (path: string) => calls.filter((call) => call.path === path).map(({ body }) => body),
    /** Changes what the document step asks for. */
    ask: (part: Partial<DocumentStep>) => {
      step = { ...step, ...part }
    },
    /** Changes what the calls of the token answer. */
    answerTokens: (part: typeof token) => {
      token = { ...token, ...part }
    },
    /** What was sealed in the bodies of the submits, or in the selfies beside them. */
    opened: (part: 'sealed' | 'selfie' = 'sealed', from = 'submit'): Promise<unknown[]> =>
      Promise.all(
        calls
          .flatMap(({ path, body }) => (path === from && body[part]) || [])
          .map((sealed) => openPayload(privateJwk, sealed, SEAL_LIMITS)),
      ),
    entries,
    /** The same as words. */
    events: (): string[] => entries().map(({ type, n }) => (n === undefined ? type : `${type} ${n}`)),
  }
}

/** Of a successor of a token. */
export const SUCCESSOR_ID = 'CgoKCgoKCgoKCgoKCgoKCg'

function tokenReply(
  path: string,
  { sealedToken, ...named }: Partial<TokenBegun> & { sealedToken?: string },
  isSuccessor: boolean,
): object {
  const { renewalDue: _renewalDue, ...plain } = named
  const begun = isSuccessor ? { ...plain, tokenId: SUCCESSOR_ID, publicKey: null } : named
  const { tokenId = 'AQEBAQEBAQEBAQEBAQEBAQ' } = begun
  if (path === 'token/enrol') return { tokenId, sealedToken: sealedToken ?? null }
  if (path === 'token/probe') return { tokenId }
  return {
    tokenId,
    account: 'AgICAgICAgICAgICAgICAg',
    realm: 'shop',
    matcherNonce: 'M'.repeat(43),
    keyHolderNonce: 'K'.repeat(43),
    publicKey: null,
    wantsToken: false,
    ...begun,
  }
}

const eventOf = (session: LaunchState) => new TextEncoder().encode(`event: state\ndata: ${JSON.stringify(session)}\n\n`)

function streamOf(
  session: LaunchState,
  streams: Set<ReadableStreamDefaultController<Uint8Array>>,
  signal: AbortSignal | null,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      streams.add(controller)
      controller.enqueue(eventOf(session))
      signal?.addEventListener('abort', () => {
        streams.delete(controller)
        controller.error(signal.reason)
      })
    },
    cancel() {
      streams.clear()
    },
  })
}
