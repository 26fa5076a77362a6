import type { LockedPerson, PersonLockout } from '@ostiary/sdk'
import { answer, type Command, type Invocation, text, UsageError } from '../command.ts'
import { atService, CONNECTION_OPTIONS, CONNECTION_USAGE } from '../connection.ts'

const PERSON = { ...CONNECTION_OPTIONS, puid: { type: 'string' }, 'customer-id': { type: 'string' } } as const
const BY = '(--puid <id> | --customer-id <text>) [--url <address>] [--key <key>] [--json]'
const NEEDS = `The key needs the scope verify:lockouts, which "ostiary keys create" gives only when it is asked for. Either id finds what
sessions counted under the other. A name that nobody was enrolled under has a count of its own.
${CONNECTION_USAGE}`

export const lockoutCommands: readonly Command[] = [
  {
    name: 'lockouts show',
    usage: `ostiary lockouts show ${BY}

What counts against a person whose comparisons failed (code -35).
${NEEDS}`,
    options: PERSON,
    run: (invocation) =>
      atService(invocation, async ({ client }) => {
        const found = await client.verification.lockout(personOf(invocation))
        return answer(invocation, found, inWords(found))
      }),
  },
  {
    name: 'lockouts clear',
    usage: `ostiary lockouts clear ${BY}

Frees a person who is locked out. Check who asks for it first: the lockout is what stops somebody who tries faces.
${NEEDS}`,
    options: PERSON,
    run: (invocation) =>
      atService(invocation, async ({ client }) => {
        const before = await client.verification.unlock(personOf(invocation))
        return answer(invocation, before, `Freed. Before: ${inWords(before)}`)
      }),
  },
]

function personOf(invocation: Invocation): LockedPerson {
  const [puid, customerId] = [text(invocation, 'puid'), text(invocation, 'customer-id')]
  if (puid === undefined && customerId === undefined) throw new UsageError('Name the person: --puid or --customer-id')
  return { ...(puid !== undefined && { puid }), ...(customerId !== undefined && { customerId }) }
}

const inWords = ({ locked, retryAfter, failures }: PersonLockout) =>
  locked ? `locked for ${retryAfter} s, ${failures} failures` : `not locked, ${failures} failures`
