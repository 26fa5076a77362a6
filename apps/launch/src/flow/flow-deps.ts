import type { OpenedSession } from '@ostiary/contract'
import type { PageDeps } from './deps.ts'
import type { CreateVerification } from './verification-part.ts'

/** What the whole flow needs: the browser, and the part that is loaded only for ENROLL, SIGN-IN and VERIFY. */
export interface FlowDeps extends PageDeps {
  /** Age checks never load it. */
  loadVerification(session: OpenedSession): Promise<CreateVerification>
}
