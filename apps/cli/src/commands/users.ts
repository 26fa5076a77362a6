import { answer, type Command, type Invocation, text, UsageError } from '../command.ts'
import { atService, CONNECTION_OPTIONS, CONNECTION_USAGE } from '../connection.ts'

export const userCommands: readonly Command[] = [
  {
    name: 'users delete',
    usage: `ostiary users delete (--puid <id> | --customer-id <text>) [--url <address>] [--key <key>] [--json]

Deletes the user with all biometric data at once and for ever, of area D and of area E. --customer-id is the customerId of the
ENROLL session, or the metadata.id of the enrolment in area E. The key needs the scope node:*.
${CONNECTION_USAGE}`,
    options: { ...CONNECTION_OPTIONS, puid: { type: 'string' }, 'customer-id': { type: 'string' } },
    run: (invocation) => {
      const user = userOf(invocation)
      return atService(
        invocation,
        async ({ client }) => {
          if (!(await client.node.deleteUser(user))) throw new Error('There is no such user for this key')
          return answer(invocation, { deleted: true }, 'The user is deleted')
        },
        { writes: true },
      )
    },
  },
]

function userOf(invocation: Invocation): string | { metadataId: string } {
  const [puid, customerId] = [text(invocation, 'puid'), text(invocation, 'customer-id')]
  // Two that name different users would leave open which of them goes.
  if (puid !== undefined && customerId !== undefined) throw new UsageError('Give either --puid or --customer-id')
  if (customerId !== undefined) return { metadataId: customerId }
  if (puid !== undefined) return puid
  throw new UsageError('Name the user: --puid or --customer-id')
}
