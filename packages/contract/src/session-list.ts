import Type from 'typebox'
import { SESSION_LIST_LIMITS } from './limits.ts'
import { PURGED } from './states.ts'

/** Describes the times in the summary of a session, but the first. */
export const OF_PURGED = 'Of a purged session the moment of its deletion'

/** Query parameters of a list of sessions, for an area with these states. */
export const sessionListQuery = <const States extends string[]>(states: States) => ({
  state: Type.Optional(
    Type.Enum([...states, PURGED], { description: `Keeps the sessions in this state; \`${PURGED}\`: deleted ones` }),
  ),
  since: Type.Optional(
    Type.String({
      format: 'date-time',
      maxLength: SESSION_LIST_LIMITS.momentChars,
      description: 'Keeps the sessions that were created at this moment or later',
    }),
  ),
  until: Type.Optional(
    Type.String({
      format: 'date-time',
      maxLength: SESSION_LIST_LIMITS.momentChars,
      description: 'Keeps the sessions that were created before this moment',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: SESSION_LIST_LIMITS.pageMax, default: SESSION_LIST_LIMITS.pageDefault }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: SESSION_LIST_LIMITS.cursorChars, description: '`nextCursor` of the page before' }),
  ),
})
