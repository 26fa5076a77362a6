import Type from 'typebox'
import { SESSION_LIST_LIMITS } from './limits.ts'
import { FLOW_STATUSES, PURGED } from './states.ts'

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
    Type.Integer({
      minimum: 1,
      maximum: SESSION_LIST_LIMITS.pageMax,
      default: SESSION_LIST_LIMITS.pageDefault,
      description: 'How many on a page',
    }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: SESSION_LIST_LIMITS.cursorChars, description: '`nextCursor` of the page before' }),
  ),
})

/** A session of area C as its host sees it, without the result. */
export const SessionSummary = Type.Object(
  {
    sessionId: Type.String({ format: 'uuid', description: 'The id in `launchUrl`' }),
    state: Type.String({ description: 'The step, as docs/api/age.md names them; `PURGED` when it is deleted' }),
    flowStatus: Type.Union([Type.Enum([...FLOW_STATUSES]), Type.Null()], {
      description: 'null while it is open, and once it is purged',
    }),
    createdAt: Type.String({ format: 'date-time', description: 'When it was created' }),
    expiresAt: Type.String({ format: 'date-time', description: OF_PURGED }),
    endedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description: OF_PURGED }),
    livemode: Type.Boolean({ description: 'false for sessions of test keys' }),
    metadata: Type.Unsafe<Record<string, unknown>>(
      Type.Object(
        {},
        { additionalProperties: true, description: 'As given at creation; empty once the session is purged' },
      ),
    ),
  },
  { title: 'SessionSummary' },
)
export type SessionSummary = Type.Static<typeof SessionSummary>

export const SessionPage = Type.Object(
  {
    items: Type.Array(SessionSummary, { description: 'The sessions, newest first' }),
    count: Type.Integer({ description: 'Number of `items` on this page' }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: '`cursor` of the next page; null on the last one',
    }),
  },
  { title: 'SessionPage' },
)
export type SessionPage = Type.Static<typeof SessionPage>
