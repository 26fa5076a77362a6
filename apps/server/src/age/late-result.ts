import { AppError } from '../platform/errors.ts'
import { endedResult } from './ended-result.ts'
import { toResultBytes } from './result.ts'
import type { AgeSession } from './session.ts'

/**
 * The rule that makes the result of a session that nobody opened, as it is today. The number is stored with the session. A result must have the
 * same bytes whenever it is read: a change of what `late-result.test.ts` compares keeps the old rule under its number, and adds a new
 * one. Workers may write the number of a new rule one release later, when every process knows it.
 */
export const LATE_RULE = 1

const RULES: Readonly<Record<number, (session: AgeSession, endedAt: Date) => Buffer>> = {
  1: (session, endedAt) =>
    toResultBytes(
      endedResult({ ...session, progress: null }, { flow: 'EXPIRED' }, { endedAt, ticket: null }),
      session.request.metadataText,
    ),
}

/** The result of a session that ended without one. */
export function lateResultOf(session: AgeSession, rule: number): Buffer {
  const make = RULES[rule]
  if (!make || !session.endedAt) {
    throw new AppError('unavailable', 'DEPENDENCY_DOWN', 'A newer release has ended this session, try again', {
      detail: `rule ${rule}`,
    })
  }
  return make(session, session.endedAt)
}
