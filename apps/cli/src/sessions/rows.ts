import type { AgeResult, OstiaryClient, SessionSummary, VerificationSummary, VerificationWebhook } from '@ostiary/sdk'
import { OstiaryError } from '@ostiary/sdk'
import { table } from '../terminal.ts'

/** A session of area C or D, as lists show it. */
export interface SessionRow {
  area: 'age' | 'verification'
  sessionId: string
  /** ENROLL, SIGN-IN or VERIFY; of an age session nothing. */
  type: string | null
  state: string
  /** null while it is open. */
  outcome: string | null
  createdAt: string
  endedAt: string | null
  livemode: boolean
}

export function ageRow({ sessionId, state, flowStatus, createdAt, endedAt, livemode }: SessionSummary): SessionRow {
  return { area: 'age', sessionId, type: null, state, outcome: flowStatus, createdAt, endedAt, livemode }
}

export function verificationRow(summary: VerificationSummary): SessionRow {
  const { sessionId, type, state, outcome, createdAt, endedAt, livemode } = summary
  return { area: 'verification', sessionId, type, state, outcome, createdAt, endedAt, livemode }
}

export function sessionTable(rows: readonly SessionRow[]): string {
  return table(
    ['SESSION', 'AREA', 'TYPE', 'STATE', 'OUTCOME', 'CREATED', 'MODE'],
    rows.map((row) => [
      row.sessionId,
      row.area,
      row.type ?? '-',
      row.state,
      row.outcome ?? '-',
      row.createdAt.slice(0, 19).replace('T', ' '),
      row.livemode ? 'live' : 'test',
    ]),
  )
}

export const SESSION_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Pages of 200 that are looked through for an age session by its id: the API finds one by its token only. */
const SEARCHED_MAX = 2_000

export interface FoundSession {
  row: SessionRow
  /** Of an age session that was named by its token, or of an ended one of area D. */
  result: AgeResult | VerificationWebhook | null
}

/** Finds a session by its id, or an age session by its token. Returns undefined where no session has it. */
export async function findSession(client: OstiaryClient, asked: string): Promise<FoundSession | undefined> {
  if (!SESSION_ID.test(asked)) {
    const summary = await orNothing(client.age.get(asked))
    return summary && { row: ageRow(summary), result: await client.age.result(asked) }
  }
  const verification = await orNothing(client.verification.get(asked))
  if (verification) {
    const result =
      verification.outcome === null ? null : ((await orNothing(client.verification.webhook(asked))) ?? null)
    return { row: verificationRow(verification), result }
  }
  let searched = 0
  for await (const summary of client.age.all({ limit: 200 })) {
    if (summary.sessionId === asked) return { row: ageRow(summary), result: null }
    if (++searched >= SEARCHED_MAX) return undefined
  }
  return undefined
}

/** A key may have the scope of one area only; then the other area has nothing for it. */
export function isOutOfReach(error: unknown): boolean {
  const codes = ['SCOPE_DENIED', 'INVALID_CLIENT_CREDENTIALS']
  return (
    error instanceof OstiaryError && (codes.includes(error.code) || (error.status === 401 && error.code === 'UNKNOWN'))
  )
}

async function orNothing<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((error: unknown) => {
    if (isOutOfReach(error) || (error instanceof OstiaryError && [404, 410].includes(error.status))) return undefined
    throw error
  })
}
