import { systemClock } from '@ostiary/device'
import { type Command, type Invocation, text, UsageError } from '../command.ts'
import { whereTo } from '../connection.ts'
import { showChecks } from '../doctor/checks.ts'
import { checkReceiver } from '../doctor/webhook.ts'
import { isLive } from '../profiles.ts'

export const doctorWebhookCommands: readonly Command[] = [
  {
    name: 'doctor webhook',
    usage: `ostiary doctor webhook --url <address of your receiver> [--key <key>] [--profile <name>] [--json]

Sends events to your receiver from this machine, signed with a test key as the service signs them: a genuine one, the
same again, one with a wrong signature, one with a changed body, one with an old timestamp. Says what each answer means.
The session in them does not exist. Live keys are refused, because the receiver would believe the event.

Exit code: 0 all is well (advice may be given), 1 something is to be mended, 2 not understood.`,
    options: { url: { type: 'string' }, key: { type: 'string' }, profile: { type: 'string' } },
    run: doctorWebhook,
  },
]

async function doctorWebhook(invocation: Invocation): Promise<number> {
  const url = text(invocation, 'url') ?? invocation.args[0]
  if (url === undefined || !/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageError('--url must be the address of your receiver, such as http://127.0.0.1:3000/hook')
  }
  const { url: _receiver, ...options } = invocation.options
  const { key } = whereTo({ ...invocation, options })
  if (key === undefined) throw new UsageError('No key to sign with: run "ostiary login", or set OSTIARY_API_KEY')
  if (isLive(key)) throw new UsageError('A live key makes a real event: use the test key of the same tenant')
  const checks = await checkReceiver(url, key, () => new Date(systemClock.nowMs()))
  if (invocation.options.json) invocation.terminal.out(JSON.stringify(checks))
  else showChecks(checks, invocation.terminal, { good: 'The receiver is right', bad: 'to mend in the receiver' })
  return checks.some(({ state }) => state === 'failed') ? 1 : 0
}
