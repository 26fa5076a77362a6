import type { CapturePayload, OpenedSession } from '@ostiary/contract'
import type { DocumentCommand } from '../documents/document-types.ts'
import type { PageDeps } from './deps.ts'
import type { Models } from './models.ts'
import type { SessionLink } from './session.ts'
import type { Store } from './store.ts'

/** The document step. Loaded only for sessions that may ask for a document, so this file has only the types. */
export interface DocumentsPart {
  /**
   * A capture is complete, and the engine still has its samples: keeps the face for the comparison. Returns what the capture says about a
   * document that was read before it.
   */
  captured(nonce: string): Promise<Pick<CapturePayload, 'match'>>
  act(command: DocumentCommand): void
  /** The flow is over: forgets everything. */
  end(): void
}

export interface DocumentsLink {
  opened: OpenedSession
  deps: PageDeps
  store: Store
  session: SessionLink
  models: Models
  /** Ends with the flow. */
  signal: AbortSignal
}
export type CreateDocuments = (link: DocumentsLink) => DocumentsPart
