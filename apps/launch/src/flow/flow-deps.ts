import type { OpenedSession } from '@ostiary/contract'
import type { PageDeps } from './deps.ts'
import type { CreateDocuments } from './documents-part.ts'
import type { CreateVerification } from './verification-part.ts'

/** What the whole flow needs: the browser, and the parts that few pages load. */
export interface FlowDeps extends PageDeps {
  /** Age checks never load it. */
  loadVerification(session: OpenedSession): Promise<CreateVerification>
  /** Only sessions that may ask for a document load it. */
  loadDocuments(session: OpenedSession): Promise<CreateDocuments>
  /** The screen for the number of the first device. Only a device that joined with a code loads it. */
  loadNumberScreen(): Promise<void>
}
