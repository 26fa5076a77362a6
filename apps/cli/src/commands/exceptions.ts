import type { ExceptionRecord } from '@ostiary/sdk'
import { answer, argument, type Command, type Invocation, text, UsageError } from '../command.ts'
import { atService, CONNECTION_OPTIONS, CONNECTION_USAGE, type Connection } from '../connection.ts'
import { personOf } from '../screen/screening.ts'
import { harmless } from '../screen/text-width.ts'
import { table } from '../terminal.ts'

const PAGE = 200

export const exceptionCommands: readonly Command[] = [
  {
    name: 'exceptions add',
    usage: `ostiary exceptions add --record <row id> [--firstname <text>] [--lastname <text>] [--dob <text>]
       --entity <entry id> --reason <text> --expires <2027-01-01> [--url <address>] [--key <key>] [--json]

Names and birth date are those of the row, letter for letter: when one of them changes, the exception no longer holds.
It ends when the day of --expires begins (UTC).
${CONNECTION_USAGE}`,
    options: {
      ...CONNECTION_OPTIONS,
      record: { type: 'string' },
      firstname: { type: 'string' },
      lastname: { type: 'string' },
      dob: { type: 'string' },
      entity: { type: 'string' },
      reason: { type: 'string' },
      expires: { type: 'string' },
    },
    run: add,
  },
  {
    name: 'exceptions list',
    usage: `ostiary exceptions list [--record <row id>] [--url <address>] [--key <key>] [--json]\n\n${CONNECTION_USAGE}`,
    options: { ...CONNECTION_OPTIONS, record: { type: 'string' } },
    run: (invocation) =>
      atService(invocation, async ({ client }) => {
        const recordId = text(invocation, 'record')
        const found: ExceptionRecord[] = []
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const page = await client.sanctions.exceptions.list({
            limit: PAGE,
            ...(recordId !== undefined && { recordId }),
            ...(cursor !== undefined && { cursor }),
          })
          found.push(...page.items)
          cursor = page.nextCursor
        }
        return answer(invocation, found, found.length === 0 ? 'There is no exception.' : overview(found))
      }),
  },
  {
    name: 'exceptions remove',
    usage: `ostiary exceptions remove <exception id> [--url <address>] [--key <key>] [--json]\n\n${CONNECTION_USAGE}`,
    options: CONNECTION_OPTIONS,
    run: (invocation) =>
      atService(
        invocation,
        async ({ client }) => {
          const id = argument(invocation, 'exception id')
          await client.sanctions.exceptions.delete(id)
          return answer(invocation, { id, removed: true }, `${id} is removed; the entry matches again`)
        },
        { writes: true },
      ),
  },
]

function add(invocation: Invocation): Promise<number> {
  const person = {
    firstname: text(invocation, 'firstname') ?? '',
    lastname: text(invocation, 'lastname') ?? '',
    dob: text(invocation, 'dob') ?? '',
  }
  const body = {
    recordId: required(invocation, 'record'),
    ...person,
    entityId: required(invocation, 'entity'),
    reason: required(invocation, 'reason'),
    expiresAt: endOf(required(invocation, 'expires')),
  }
  const create = async ({ client }: Connection) => {
    const record = await client.sanctions.exceptions.create(body)
    const { terminal, options } = invocation
    if (options.json) terminal.out(JSON.stringify(record))
    else {
      terminal.out(`${record.id}  ${harmless(record.entityId)} is silenced until ${record.expiresAt.slice(0, 10)}`)
      const born = person.dob.trim() === '' ? 'no birth date' : `born ${harmless(person.dob)}`
      terminal.out(`for row ${harmless(record.recordId)}, while it says: ${harmless(personOf(person))}, ${born}`)
    }
    return 0
  }
  return atService(invocation, create, { writes: true })
}

/** Reads a day, or a point in time as the API takes it. */
export function endOf(value: string): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(value)
  const moment = new Date(isDay ? `${value}T00:00:00.000Z` : value)
  const isReal = !Number.isNaN(moment.getTime()) && (!isDay || moment.toISOString().startsWith(value))
  if (!isReal || !/^\d{4}-\d{2}-\d{2}(T.*(Z|[+-]\d{2}:\d{2}))?$/.test(value)) {
    throw new UsageError('--expires must be a day such as 2027-01-01')
  }
  return moment.toISOString()
}

function overview(found: readonly ExceptionRecord[]): string {
  const rows = found.map(({ id, recordId, entityId, expiresAt, reason }) =>
    [id, recordId, entityId, expiresAt.slice(0, 10), reason].map(harmless),
  )
  return table(['ID', 'ROW', 'ENTRY', 'UNTIL', 'REASON'], rows)
}

function required(invocation: Invocation, name: string): string {
  const value = text(invocation, name)
  if (value === undefined || value.trim() === '') throw new UsageError(`--${name} is required`)
  return value
}
