import { WEBHOOK_EVENTS } from '@ostiary/contract'
import type { StreamEvent } from '@ostiary/sdk'
import { type Command, type Invocation, number, text, texts, UsageError } from '../command.ts'
import { atService, CONNECTION_OPTIONS, CONNECTION_USAGE, type Connection } from '../connection.ts'
import { type Answer, createForward, type Forwarded } from '../listen/forward.ts'
import { type Place, placeOf } from '../listen/place.ts'
import { targetOf } from '../listen/target.ts'
import { masked } from '../profiles.ts'
import { paint } from '../terminal.ts'

const EVENT_NAMES = Object.keys(WEBHOOK_EVENTS)

export const listenCommands: readonly Command[] = [
  {
    name: 'listen',
    usage: `ostiary listen [--forward <url>] [--events <name>,…] [--from start|now|<cursor>] [--print] [--json]
               [--header '<name>: <value>'] [--no-retry] [--allow-remote] [--count <number>]

Shows what webhooks carry as soon as a session ends, without an address that the service could call. With --forward every event is
posted to your own receiver, with the exact body and valid signatures. Ctrl-C ends it; the next start goes on where it was.
  --forward   for example http://localhost:3000/hook. Only this machine and private networks, unless --allow-remote
  --events    only these: ${EVENT_NAMES.join(', ')}
  --from      start: the oldest event that is kept. now: only what comes. Without it: after the last event that the receiver
              has accepted, or now
  --print     the bodies too
  --header    sent with every event; may be repeated. Headers of the session's callback are not sent
  --no-retry  an event that the receiver does not accept is passed over, not sent again until it is
  --count     end after so many events
An event can come twice if this command is killed, never by Ctrl-C: the receiver counts X-Service-Delivery once.
For development, with a test key. In production use webhooks (docs/webhooks.md).

${CONNECTION_USAGE}`,
    options: {
      forward: { type: 'string' },
      events: { type: 'string' },
      from: { type: 'string' },
      print: { type: 'boolean' },
      header: { type: 'string', multiple: true },
      'no-retry': { type: 'boolean' },
      'allow-remote': { type: 'boolean' },
      count: { type: 'string' },
      ...CONNECTION_OPTIONS,
    },
    values: { from: ['start', 'now'], events: EVENT_NAMES },
    run: (invocation) => atService(invocation, (connection) => listen(invocation, connection)),
  },
]

interface Listening {
  invocation: Invocation
  connection: Connection
  target: string | undefined
  place: Place | undefined
  wanted: ReadonlySet<string>
  count: number
  signal: AbortSignal
}

async function listen(invocation: Invocation, connection: Connection): Promise<number> {
  const forwardTo = text(invocation, 'forward')
  const target = forwardTo === undefined ? undefined : targetOf(forwardTo, invocation.options['allow-remote'] === true)
  const { url, apiKey = '' } = connection
  const place = target === undefined ? undefined : placeOf(invocation.env, { url, apiKey, target })
  const from = text(invocation, 'from') ?? place?.read()
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  // A second Ctrl-C ends the process at once.
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  try {
    const wanted = namesOf(text(invocation, 'events'))
    const count = number(invocation, 'count') ?? Number.POSITIVE_INFINITY
    const listening = { invocation, connection, target, place, wanted, count, signal: stop.signal }
    greet(listening, from)
    await follow(listening, from === 'now' ? undefined : from)
    return 0
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

async function follow(listening: Listening, from: string | undefined): Promise<void> {
  const { invocation, connection, place, wanted, signal } = listening
  const handle = createHandler(listening)
  let cursor = from
  let handled = 0
  const passed = (to: string) => {
    cursor = to
    place?.write(to)
  }
  while (!signal.aborted && handled < listening.count) {
    const events = connection.client.events.stream({
      ...(cursor !== undefined && { cursor }),
      signal,
      onCursor: passed,
      onMissed: () => warn(invocation, 'Events were deleted, by retention, before they were read here'),
      onInterrupted: (failure, inMs) =>
        warn(invocation, `${connection.url}: ${failure.message}; trying again in ${seconds(inMs)}`),
    })
    for await (const event of events) {
      if (wanted.size > 0 && !wanted.has(event.event)) continue
      const { end } = await handle(event)
      // Read again from the last cursor: then it has a new signature.
      if (end === 'old' || end === 'stopped') break
      passed(event.cursor)
      handled++
      if (handled >= listening.count) break
    }
  }
}

function createHandler({ invocation, target, signal }: Listening): (event: StreamEvent) => Promise<Forwarded> {
  const shown = { end: 'accepted', answer: { status: 0, durationMs: 0 } } as const
  const forward =
    target === undefined
      ? async () => shown
      : createForward({
          target,
          headers: headersOf(texts(invocation, 'header')),
          retries: invocation.options['no-retry'] !== true,
          signal,
          onRetry: createRetryNotes(invocation, target),
        })
  return async (event) => {
    if (target !== undefined && event.headers['x-service-signature'] === undefined) {
      warn(invocation, `${event.id} is not forwarded: no active API key may sign it`)
      return shown
    }
    const forwarded = await forward(event)
    if ('answer' in forwarded) show(invocation, event, target === undefined ? undefined : forwarded.answer)
    return forwarded
  }
}

/** One line when a receiver begins to fail, and one whenever the reason changes. */
function createRetryNotes(invocation: Invocation, target: string) {
  let said = ''
  return (event: StreamEvent, answer: Answer, inMs: number) => {
    const reason = 'status' in answer ? `answered ${answer.status}` : `does not answer (${answer.failure})`
    const note = `${event.id} ${reason}`
    if (note !== said) {
      warn(
        invocation,
        `${target} ${reason}: ${event.event} is sent again until it is accepted, first in ${seconds(inMs)}`,
      )
    }
    said = note
  }
}

function greet({ invocation, connection, target, place }: Listening, from: string | undefined): void {
  if (invocation.options.json) return
  const { terminal } = invocation
  const mode = connection.isLive ? 'live' : 'test'
  const to = target === undefined ? '' : `, forwarding to ${target}`
  terminal.err(`Listening to ${mode} events of ${connection.url}${to}. Ctrl-C ends it.`)
  terminal.err(`Signed with the key that created the session, yours is ${masked(connection.apiKey ?? '')}.`)
  const isStored = place !== undefined && text(invocation, 'from') === undefined && from !== undefined
  if (isStored)
    terminal.err('Going on after the last event that was accepted; --from now leaves out what came meanwhile.')
}

function show(invocation: Invocation, event: StreamEvent, answer: Answer | undefined): void {
  const { terminal, options } = invocation
  if (options.json) {
    const { headers: _signed, body, ...facts } = event
    const forwarded = answer && { forwarded: answer }
    terminal.out(JSON.stringify({ ...facts, ...forwarded, ...(options.print === true && { body }) }))
    return
  }
  const result = answer === undefined ? '' : `  ${paint(terminal, isGood(answer) ? 'green' : 'red', inShort(answer))}`
  terminal.out(`${event.createdAt.slice(11, 19)}  ${event.event.padEnd(NAME_WIDTH)}  ${event.sessionId}${result}`)
  if (options.print) terminal.out(event.body)
}
const NAME_WIDTH = Math.max(...EVENT_NAMES.map((name) => name.length))

const isGood = (answer: Answer) => 'status' in answer && answer.status < 300
const inShort = (answer: Answer) => `${'status' in answer ? answer.status : answer.failure}  ${answer.durationMs} ms`
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

function warn({ terminal, options }: Invocation, message: string): void {
  terminal.err(options.json ? JSON.stringify({ warning: { message } }) : paint(terminal, 'yellow', message))
}

function namesOf(list: string | undefined): ReadonlySet<string> {
  const names = (list ?? '').split(',').flatMap((name) => name.trim() || [])
  const unknown = names.find((name) => !EVENT_NAMES.includes(name))
  if (unknown !== undefined)
    throw new UsageError(`There is no event "${unknown}". There are: ${EVENT_NAMES.join(', ')}`)
  return new Set(names)
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name, value] = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+):\s*(.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined) throw new UsageError(`--header must be 'Name: value'`)
    headers[name.toLowerCase()] = value
  }
  return headers
}
