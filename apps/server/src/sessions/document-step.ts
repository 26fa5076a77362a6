import { DOCUMENT_LIMITS, SESSION_CODES, type SessionCodeName } from '@ostiary/contract'
import { documentOf, withDocument } from './document-progress.ts'
import type { FlowRules, Step } from './flow.ts'
import { nextState } from './machine.ts'
import type { Progress } from './progress.ts'
import type { Session } from './session.ts'

/** A try of the document step that failed: another one, or the end when none is left or the code is final. */
export function failDocument<Own>(
  rules: Pick<FlowRules, 'failuresOf'>,
  session: Session,
  progress: Progress<Own>,
  name: SessionCodeName,
): Step<Own> {
  const { code, kind } = SESSION_CODES[name]
  const tries = documentOf(progress).tries + 1
  const tried = withDocument(progress, { tries, step: null })
  if (kind === 'F' || tries >= DOCUMENT_LIMITS.attempts) {
    const failures = rules.failuresOf(name, kind !== 'F')
    return { state: session.state, progress: tried, errors: [code], end: { how: 'failed', failures } }
  }
  // The next document may be another one.
  return { state: nextState(session, 'retry'), progress: withDocument(tried, { read: null }), errors: [code] }
}
