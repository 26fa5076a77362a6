import type { LockedPerson, PersonLockout } from '@ostiary/contract'
import type { Recognition } from '../biometrics/index.ts'
import type { Caller } from '../keys/index.ts'
import type { Cells } from '../platform/cells.ts'
import type { Log } from '../platform/log.ts'
import type { Sessions } from '../sessions/index.ts'
import type { Lockouts } from './lockouts.ts'
import type { LockoutSubject } from './progress.ts'

interface Deps {
  cells: Cells
  log: Log
  sessions: Sessions
  recognition: Recognition
  lockouts: Lockouts
}

/** What support does for a person who is locked out: looks, and frees them. */
export function createFreeing({ cells, log, sessions, recognition, lockouts }: Deps) {
  /** A person counts under their id, whatever the session named, and for second tries; a name that nobody is enrolled under counts as itself. */
  async function subjectsOf(caller: Caller, { puid, customerId }: LockedPerson): Promise<LockoutSubject[]> {
    const { tenantId, livemode } = caller
    const hash = await sessions.hasherFor(cells.forId(tenantId), tenantId)
    const bound = customerId === undefined ? undefined : await recognition.find(caller, { externalId: customerId })
    const ids = new Set([puid, bound?.puid].filter((id) => id !== undefined))
    const people = [...ids].flatMap((id): LockoutSubject[] => [
      { kind: 'person', hash: hash('person', livemode, id) },
      { kind: 'retries', hash: hash('retries', livemode, id) },
    ])
    if (customerId === undefined) return people
    return [...people, { kind: 'person', hash: hash('customer', livemode, customerId) }]
  }

  async function answer(caller: Caller, person: LockedPerson, clears: boolean): Promise<PersonLockout> {
    const { tenantId, livemode, keyId } = caller
    const subjects = await subjectsOf(caller, person)
    const found = await cells.forId(tenantId).transaction((tx) => lockouts.look(tx, caller, subjects, clears))
    // Who freed somebody must be known; whom, the caller knows.
    if (clears) log.info({ tenantId, livemode, keyId, count: found.failures }, 'a lockout was cleared')
    return { locked: found.seconds > 0, retryAfter: found.seconds, failures: found.failures, livemode }
  }

  return {
    find: (caller: Caller, person: LockedPerson) => answer(caller, person, false),
    clear: (caller: Caller, person: LockedPerson) => answer(caller, person, true),
  }
}
export type Freeing = ReturnType<typeof createFreeing>
