/** What the errors of PostgreSQL, of PgBouncer and of pg say about a store. */

/**
 * Why a store cannot keep anything: it refuses the login, is read-only, is a standby, has no replica that a commit must reach, has no space,
 * or does not answer.
 */
export type Outage = 'refused' | 'read-only' | 'standby' | 'unreplicated' | 'full' | 'unreachable'

export interface StoreFault {
  /** Of the whole store. Absent: this call failed, and the next one may succeed. */
  outage?: Outage
}

/** pg gave up a statement that was not answered in time. */
export const SILENCE = 'Query read timeout'

/** A commit is on the disk of one server alone, although it was to reach a replica first. */
export class UnreplicatedError extends Error {
  override readonly name = 'UnreplicatedError'
  constructor() {
    super('A commit that waited for a replica was cancelled')
  }
}

// SQLSTATE classes and codes, and the codes of sockets. 25P03: a transaction that was idle too long. 40: a deadlock, or two transactions
// that exclude each other. 57014: a statement that took too long. 53300: too many connections.
const FAULTS: readonly [RegExp, StoreFault][] = [
  [/^(28...|3D000)$/, { outage: 'refused' }],
  [/^25006$/, { outage: 'read-only' }],
  [/^53100$/, { outage: 'full' }],
  [/^(25P03|40...|57014|57P05)$/, {}],
  [
    /^(08...|53...|57...|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$/,
    { outage: 'unreachable' },
  ],
]
// PgBouncer reports a login that the server refuses with the code of a broken protocol. pg refuses a login without a password by itself.
// When it has given up for a while it quotes why: often that PostgreSQL is away.
const REFUSED_TEXTS =
  /^SASL: |password authentication failed|no such (user|database)|server login has been failing.*(authentication|password|pg_hba\.conf|not permitted to log in|does not exist)/
const UNREACHABLE_TEXTS =
  /timeout exceeded when trying to connect|^timeout expired$|Connection terminated|pool after calling end|not queryable/

/** What an error says about the store; undefined for an error that says nothing about it: a wrong value, or a fault of ours. */
export function judgeStore(error: unknown): StoreFault | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof UnreplicatedError) return { outage: 'unreplicated' }
  const { code } = error as { code?: unknown }
  const known = typeof code === 'string' ? FAULTS.find(([codes]) => codes.test(code))?.[1] : undefined
  const isLogin = REFUSED_TEXTS.test(error.message)
  if (isLogin && (code === undefined || known?.outage === 'unreachable')) return { outage: 'refused' }
  if (known) return known
  if (UNREACHABLE_TEXTS.test(error.message)) return { outage: 'unreachable' }
  return error.message === SILENCE ? {} : undefined
}

/** The same of an error at a login: whatever else the server says there, it refuses. */
export function judgeLogin(error: unknown): StoreFault {
  const isAnswer = error instanceof Error && /^[0-9A-Z]{5}$/.test(String((error as { code?: unknown }).code))
  return judgeStore(error) ?? { outage: isAnswer ? 'refused' : 'unreachable' }
}

/** The parts of a notice that are in no language. */
interface Notice {
  routine?: string | undefined
  message?: string | undefined
}

/**
 * Whether PostgreSQL says that a commit did not wait for its replica because somebody cancelled the wait. It then reports success. The text is
 * in the language of the server and the code, 01000, is that of every warning: the name of PostgreSQL's own function is what remains.
 */
export const isUnreplicated = ({ routine, message }: Notice): boolean =>
  routine === 'SyncRepWaitForLSN' || /wait for synchronous replication/.test(message ?? '')
