import {
  DOCUMENT_FACE_MATCH,
  DOCUMENT_LIMITS,
  DocumentPayload,
  type DocumentStep,
  RELEASED_READERS,
  SESSION_CODES,
  SIMULATED_READER,
} from '@ostiary/contract'
import { Compile } from 'typebox/compile'
import { sealedEvents } from '../capture-checks/index.ts'
import { type AskedDocument, type Documents, isDocumentFailure, judgeDocument } from '../documents/index.ts'
import { AppError } from '../platform/errors.ts'
import {
  type Decided,
  type DocumentAsk,
  documentOf,
  type Flow,
  type FlowRules,
  failDocument,
  graceFor,
  isWaiting,
  notAtThisStep,
  type Progress,
  type ReplyingStep,
  type RunningSession,
  type Step,
  withDocument,
  withFlags,
} from '../sessions/index.ts'
import { usedUp } from './attempts.ts'
import { lacksBrowserData, type Sender, withBrowser } from './browser-data.ts'
import { misfitOf, noChallenge, readSealed, unfitPayload } from './sealed.ts'
import { noted, withEvents } from './step.ts'

const payloads = Compile(DocumentPayload)

interface Beginning {
  nonce: string
  /** Of tenant and day; undefined where the tenant does not look for repeated use. */
  reuseKey: string | undefined
  now: Date
}

/** Begins the document step: what the device must know to judge a document by itself. It costs no try. */
export function beginDocument(
  session: RunningSession,
  ask: DocumentAsk,
  { nonce, reuseKey, now }: Beginning,
): ReplyingStep<DocumentStep> {
  const { state, progress } = session
  const { tries, begins, capture } = documentOf(progress)
  if (begins >= DOCUMENT_LIMITS.begins) return usedUp({ state, progress })
  const expiresAtMs = now.getTime() + DOCUMENT_LIMITS.stepSeconds * 1000
  const step = { nonce, expiresAtMs, submits: 0 }
  // One that a process of the last release judged is not known here: the device must not take what it holds for it.
  const lastCapture = capture?.nonce ?? ''
  return {
    state,
    progress: withDocument(progress, { begins: begins + 1, step }),
    dueAt: graceFor(session, expiresAtMs),
    reply: {
      nonce,
      attempt: tries + 1,
      attemptsLeft: DOCUMENT_LIMITS.attempts - tries,
      today: dayOf(now),
      acceptedTypes: [...ask.acceptedTypes],
      expiryGraceDays: ask.expiryGraceDays,
      age: ask.age,
      match: ask.comparesFace
        ? {
            threshold: ask.matchThreshold,
            betterLightFrom: Math.min(ask.matchThreshold, DOCUMENT_FACE_MATCH.betterLightFrom),
            capture: lastCapture,
          }
        : null,
      ...(reuseKey !== undefined && { reuseKey }),
      expiresAt: new Date(expiresAtMs).toISOString(),
    },
  }
}

/** In UTC, as `2026-11-17`. */
export const dayOf = (now: Date): string => now.toISOString().slice(0, 10)

/** What the session asks about a document now. Throws when it is not at that step. */
export function askedNow({ document: ask }: Pick<FlowRules, 'document'>, session: RunningSession): DocumentAsk {
  if (session.state !== 'DOC_ACTIVE' || !ask) throw notAtThisStep()
  return ask
}

export interface DocumentSubmit {
  flow: Pick<Flow, 'documentRead'>
  rules: FlowRules
  documents: Documents
  session: RunningSession
  sealed: string
  sender: Sender
  now: Date
}

/** Facts of a document, from the sealed text to the next step. Each is a claim. They count once, for the step that was begun. */
export async function judgeDocumentSubmit(submit: DocumentSubmit): Promise<Decided> {
  const { rules, session, sealed, now } = submit
  const { state, progress } = session
  if (isWaiting(state)) return acceptRepeat(session, sealed)
  const { step, tries, read: accepted } = documentOf(progress)
  const mayRepeat = state === 'DOC_ACTIVE' ? !step : accepted !== null
  const reply = mayRepeat && (await replyToRepeat(session, sealed))
  if (reply) return reply
  const ask = askedNow(rules, session)
  const stay = (refuse: AppError, after: Progress = progress): Step => ({ state, progress: after, refuse })
  if (!step || now.getTime() > step.expiresAtMs) return stay(noChallenge('There is no document step under way'))
  if (step.submits >= DOCUMENT_LIMITS.submitsPerStep) return stay(noChallenge('Too many submits for one step'))
  const counted = withDocument(progress, { step: { ...step, submits: step.submits + 1 } })
  const read = await readSealed(payloads, session, progress, sealed)
  if (read instanceof AppError) return stay(read, counted)
  const issued = { sessionId: session.sessionId, nonce: step.nonce, attempt: tries + 1 }
  const misfit = misfitOf(read, issued, progress)
  if (misfit) return stay(misfit.refuse, withFlags(counted, misfit.flags))
  return judge(submit, { payload: read, asked: askedOf(ask, progress), counted })
}

/** A reply was lost, and the page sends the facts again. The work that they led to goes on; nothing in the repeat counts. */
async function acceptRepeat(session: RunningSession, sealed: string): Promise<Step> {
  const { state, progress } = session
  const read = await readSealed(payloads, session, progress, sealed)
  if (read instanceof AppError) return { state, progress, refuse: read }
  if (read.nonce === progress.usedNonces.at(-1)) return { state, progress }
  return { state, progress, refuse: noChallenge('The payload answers another step') }
}

/** The same reply for facts that were judged already, and why they were refused if they were. Undefined for any others. */
async function replyToRepeat(session: RunningSession, sealed: string): Promise<Step | undefined> {
  const { state, progress } = session
  const { read: accepted } = documentOf(progress)
  const read = await readSealed(payloads, session, progress, sealed)
  if (read instanceof AppError) return undefined
  if (state !== 'DOC_ACTIVE') return read.nonce === accepted?.nonce ? { state, progress } : undefined
  const failure = progress.failures.findLast(({ name }) => isDocumentFailure(name))
  if (!failure || read.nonce !== progress.usedNonces.at(-1)) return undefined
  return { state, progress, errors: [SESSION_CODES[failure.name].code] }
}

/** Only a capture of this very device counts: no other holds its numbers. */
function askedOf(ask: DocumentAsk, progress: Progress): AskedDocument {
  const { capture } = documentOf(progress)
  const isOwn = capture?.thumbprint === progress.holder?.thumbprint
  return {
    ...ask,
    match: ask.comparesFace
      ? { threshold: ask.matchThreshold, capture: capture && isOwn ? capture.nonce : null }
      : null,
  }
}

interface Read {
  payload: DocumentPayload
  asked: AskedDocument
  counted: Progress
}

function judge(submit: DocumentSubmit, { payload, asked, counted }: Read): Decided {
  const { documents, session, now } = submit
  const { state } = session
  const { progress: logged } = withEvents({ ...session, progress: counted }, sealedEvents(payload.log))
  const judged = judgeDocument({
    payload,
    asked,
    log: logged.log,
    now,
    acceptReader: (reader) => isReleased(reader) || (!session.livemode && isSimulated(reader)),
  })
  if ('fault' in judged) return { state, progress: counted, refuse: unfitPayload(judged.fault) }
  const { reuse } = payload
  const after = (isRepeated: boolean) => stepAfter(submit, { payload, asked, judged, logged, isRepeated })
  if (reuse === undefined) return after(false)
  return { inTransaction: async (tx) => after(await documents.isRepeated(tx, session, reuse, now)) }
}

interface Judged {
  payload: DocumentPayload
  asked: AskedDocument
  judged: Exclude<ReturnType<typeof judgeDocument>, { fault: string }>
  logged: Progress
  isRepeated: boolean
}

function stepAfter(submit: DocumentSubmit, { payload, asked, judged, logged, isRepeated }: Judged): Step {
  const { flow, rules, documents, session, sender, now } = submit
  const { progress } = session
  // A simulated device has no browser.
  const withoutBrowser =
    !isSimulated(payload.reader) && lacksBrowserData(payload, sender, progress.holder?.tellsCamera ?? false)
  // Else leaving it out would be the way around `DO_REUSED`.
  const lacksMark = asked.reuseCheck && payload.reuse === undefined
  const flags = [
    ...judged.flags,
    ...(isRepeated ? (['DO_REUSED'] as const) : []),
    ...(lacksMark ? (['DO_NO_MARK'] as const) : []),
    ...(withoutBrowser ? (['BH_NO_BROWSER_DATA'] as const) : []),
  ]
  const raised = withFlags(
    { ...logged, usedNonces: [...logged.usedNonces, payload.nonce], behaviour: true },
    flags.map((code) => ({ code })),
  )
  const { failure, document } = judged
  const thumbprint = progress.holder?.thumbprint ?? ''
  const kept = document && { ...document, nonce: payload.nonce, thumbprint }
  const known = withDocument(withBrowser(raised, payload), { step: null, read: kept })
  documents.count(failure ?? 'ACCEPTED', payload.format)
  if (failure) return failDocument(rules, session, noted(known, failure), failure)
  return flow.documentRead({ ...session, progress: known }, now)
}

const isReleased = ({ id, hash }: DocumentPayload['reader']) =>
  RELEASED_READERS.some((reader) => reader.id === id && reader.hash === hash)

const isSimulated = ({ id, hash }: DocumentPayload['reader']) =>
  id === SIMULATED_READER.id && hash === SIMULATED_READER.hash
