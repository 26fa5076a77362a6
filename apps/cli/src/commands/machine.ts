import { createClient } from '@ostiary/sdk'
import { diagnose, type OperatorServices, withServices } from '@ostiary/server/operate'
import { answer, type Command, type Invocation } from '../command.ts'
import { showChecks } from '../doctor/checks.ts'

export const machineCommands: readonly Command[] = [
  {
    name: 'doctor',
    usage: 'ostiary doctor [--json]',
    async run({ env, terminal, options }) {
      const checks = await diagnose(env, isOstiary)
      if (options.json) terminal.out(JSON.stringify(checks))
      else showChecks(checks, terminal, { good: 'The service can run', bad: 'to fix before the service can run' })
      return checks.some((check) => check.state === 'failed') ? 1 : 0
    },
  },
  {
    name: 'migrate',
    usage: 'ostiary migrate [--json]',
    run: (invocation) =>
      withServices(invocation.env, async ({ migrate }) => {
        const applied: { cell: string; migration: string }[] = []
        await migrate((cell, migration) => {
          applied.push({ cell, migration })
          if (!invocation.options.json) invocation.terminal.out(`${cell}: ${migration}`)
        })
        const summary = applied.length === 0 ? 'Nothing to do: the schema is up to date' : `${applied.length} applied`
        return answer(invocation, { applied }, summary)
      }),
  },
  {
    name: 'reseal',
    usage: 'ostiary reseal [--json]',
    run: (invocation) => withServices(invocation.env, (services) => reseal(services, invocation)),
  },
]

const MOST_NAMED = 1_000

async function reseal({ secrets, masterKeyId }: OperatorServices, invocation: Invocation): Promise<number> {
  const { terminal } = invocation
  const olderOf = (counts: ReadonlyMap<string, number>) => [...counts].filter(([id]) => id !== masterKeyId)
  const total = sumOf(olderOf(await secrets.countByMasterKey()))
  let unreadable = 0
  const onProgress = (count: number) => {
    if (total > 0) terminal.progress(progressBar(count, total))
  }
  const done = await secrets.reseal(onProgress, (row) => {
    unreadable++
    if (unreadable <= MOST_NAMED) terminal.err(`No configured master key opens ${row}: passed over`)
  })
  if (total > 0) terminal.progress('')
  const left = olderOf(await secrets.countByMasterKey())
  const messages = sumOf(olderOf(await secrets.countMessagesByMasterKey()))
  answer(
    invocation,
    { resealed: done, masterKeyId, unreadable, messages, stillInUse: left.map(([id]) => id) },
    `${done} stored secrets are now sealed with master key ${masterKeyId}. ${restOf({ left, messages, unreadable })}`,
  )
  return left.length === 0 && unreadable === 0 ? 0 : 1
}

/** What still needs an older master key, and what helps. */
function restOf(rest: { left: readonly [string, number][]; messages: number; unreadable: number }): string {
  const { left, messages, unreadable } = rest
  if (left.length === 0) return 'Older master keys can be removed.'
  const sentences = [`Still in use: ${left.map(([id]) => id).join(', ')}.`]
  if (messages > 0)
    sentences.push(
      `${messages} messages of webhooks keep their master key until they are deleted with their sessions: running this again does not help.`,
    )
  if (unreadable > 0)
    sentences.push(`${unreadable} rows cannot be opened and were passed over: restore or delete what is named above.`)
  if (sumOf(left) > messages + unreadable) sentences.push('Run it again for the rest.')
  return sentences.join(' ')
}

function sumOf(counts: readonly [string, number][]): number {
  return counts.reduce((sum, [, count]) => sum + count, 0)
}

function progressBar(done: number, total: number): string {
  const width = 30
  const filled = Math.round((Math.min(done, total) / total) * width)
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${done} of ${total}`
}

/** Whether the process that holds a port is ours: the API, or its admin server. */
export async function isOstiary(url: string): Promise<boolean> {
  try {
    const health = await createClient({ baseUrl: url, maxRetries: 0, timeoutMs: 2_000 }).health()
    return typeof health.service === 'string' && typeof health.checks === 'object'
  } catch {
    return isOstiaryAdmin(url)
  }
}

async function isOstiaryAdmin(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(2_000) })
    return (await response.text()).includes('ostiary_build_info')
  } catch {
    return false
  }
}
