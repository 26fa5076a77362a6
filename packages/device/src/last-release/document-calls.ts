import type { DocumentPayload, DocumentStep, LaunchState } from '@ostiary/contract'
import { LAUNCH_PATHS } from '@ostiary/contract/paths'
import type { createEventLog, SavedLog } from '../event-log.ts'
import type { createSignedCalls } from '../signed-calls.ts'

/** What was read of a document: facts only. Session, step and log are added when they are submitted. */
export type DocumentFacts = Omit<DocumentPayload, 'v' | 'kind' | 'sessionId' | 'nonce' | 'attempt' | 'log'>

interface Deps extends Pick<ReturnType<typeof createSignedCalls>, 'withLock' | 'post'> {
  sessionId: string
  log: ReturnType<typeof createEventLog>
  sendEvents(log: SavedLog): Promise<unknown>
  seal(payload: object): Promise<string>
  remember(state: LaunchState): LaunchState
}

/** The calls of the document step. */
export function createDocumentCalls({ sessionId, log, withLock, post, sendEvents, seal, remember }: Deps) {
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
    /** Sends what the user has seen and confirmed. Sends the log first, and seals the facts with its last entry. */
    submit: (facts: DocumentFacts): Promise<LaunchState> =>
      withLock(async () => {
        if (!step) throw new Error('Call documentStep() first')
        const { nonce, attempt } = step
        await log.append('document_confirmed')
        const end = await log.read()
        const at = { seq: end.seq, hash: end.hash }
        const payload: DocumentPayload = { v: 1, kind: 'document', sessionId, nonce, attempt, ...facts, log: at }
        await sendEvents(end)
        return remember(await post<LaunchState>(LAUNCH_PATHS.documentSubmit, { sealed: await seal(payload) }))
      }),
  }
}
