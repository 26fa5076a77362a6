import type { DocumentPayload, DocumentStep, LaunchState } from '@ostiary/contract'
import { LAUNCH_PATHS } from '@ostiary/contract/paths'
import type { createEventCalls } from './event-calls.ts'
import type { createEventLog } from './event-log.ts'
import type { createSignedCalls } from './signed-calls.ts'

/** What was read of a document: facts only. Session, step and log are added when they are submitted. */
export type DocumentFacts = Omit<DocumentPayload, 'v' | 'kind' | 'sessionId' | 'nonce' | 'attempt' | 'log'>

interface Deps extends Pick<ReturnType<typeof createSignedCalls>, 'withLock' | 'post'> {
  sessionId: string
  log: ReturnType<typeof createEventLog>
  events: Pick<ReturnType<typeof createEventCalls>, 'endOf' | 'sealWithLog' | 'postSealed'>
  remember(state: LaunchState): LaunchState
}

/** The calls of the document step. */
export function createDocumentCalls({ sessionId, log, events, withLock, post, remember }: Deps) {
  let step: DocumentStep | undefined
  return {
    get step() {
      return step
    },
    /** What to look for, and what to compare with. It costs no try. */
    begin: (): Promise<DocumentStep> =>
      withLock(async () => {
        step = await post<DocumentStep>(LAUNCH_PATHS.document)
        return step
      }),
    /** Sends what the user has seen and confirmed. Seals the facts with the end of the log, and sends them. */
    submit: (facts: DocumentFacts): Promise<LaunchState> =>
      withLock(async () => {
        if (!step) throw new Error('Call documentStep() first')
        const { nonce, attempt } = step
        await log.append('document_confirmed')
        const end = events.endOf(await log.read())
        const payload: DocumentPayload = { v: 1, kind: 'document', sessionId, nonce, attempt, ...facts, log: end }
        const sealed = await events.sealWithLog(payload)
        return remember(await events.postSealed<LaunchState>(LAUNCH_PATHS.documentSubmit, sealed))
      }),
  }
}
