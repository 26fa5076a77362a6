import { judgeLogin } from '@ostiary/service-kit/outage'
import type { Check } from './doctor-check.ts'
import type { DatabaseFacts } from './platform/database-facts.ts'
import type { Db } from './platform/db.ts'
import { LOOK_SENTENCES } from './platform/look.ts'

/** Whether the database can store something, how many replicas follow it, and whether its log is archived. */
export function checkReplication(name: string, facts: DatabaseFacts): Check {
  if (facts.isStandby)
    return { name, state: 'failed', finding: 'a standby: it stores nothing', remedy: 'Let the URL lead to the leader' }
  if (facts.isReadOnly)
    return {
      name,
      state: 'failed',
      finding: 'read-only: it stores nothing',
      remedy: 'Set default_transaction_read_only to off, for the server, the database and the role',
    }
  const finding = ['leader', ...describeReplicas(facts), ...describeArchive(facts)].join(', ')
  if (facts.maySeeReplicas && facts.standbyNames !== '' && facts.synchronous === 0)
    return {
      name,
      state: 'failed',
      finding: `${finding}: every commit waits for a replica`,
      remedy: 'Start a replica that synchronous_standby_names names; never cancel a backend that waits in SyncRep',
    }
  if (facts.archiveFailedAt)
    return { name, state: 'warning', finding, remedy: 'The log of PostgreSQL says why archive_command fails' }
  return { name, state: 'ok', finding }
}

function describeReplicas({ maySeeReplicas, standbyNames, streaming, synchronous }: DatabaseFacts): string[] {
  if (!maySeeReplicas) return ['replicas not visible to this role (grant pg_monitor)']
  const wanted = standbyNames === '' ? 'commits wait for none' : `${synchronous} that commits wait for`
  return [`${streaming} replicas streaming`, wanted]
}

const describeArchive = ({ archiveMode, archiveFailedAt }: DatabaseFacts): string[] =>
  archiveFailedAt ? [`archiving failed at ${archiveFailedAt.toISOString()}`] : archiveMode === 'off' ? [] : ['archived']

/** Whether what is written stays: a full disk, or a missing replica, shows only then. */
export async function checkStoring(name: string, db: Db): Promise<Check> {
  const outage = await db.tryToStore()
  if (outage === undefined) return { name, state: 'ok', finding: 'a commit is answered' }
  return {
    name,
    state: 'failed',
    finding: LOOK_SENTENCES[outage],
    remedy: 'See docs/ops/watch.md, "Without its database"',
  }
}

export function explainAway(name: string, error: unknown): Check {
  const { cause, code = '', message } = error as Error & { code?: string }
  const reason = (cause as { code?: string } | undefined)?.code ?? (code || message)
  if (judgeLogin(cause ?? error).outage === 'refused')
    return {
      name,
      state: 'failed',
      finding: `refuses the login (${reason})`,
      remedy: 'It runs. Look at role, password and database of DATABASE_URL; see docs/ops/database-password.md',
    }
  return {
    name,
    state: 'failed',
    finding: `cannot be reached (${reason})`,
    remedy:
      'Is PostgreSQL running, and does DATABASE_URL name its host, port, user, password and database? In a checkout: tools/services start',
  }
}
