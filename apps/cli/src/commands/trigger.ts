import {
  RETIRED_SESSION_CODES,
  SESSION_CODE_NAMES,
  SESSION_CODES,
  VERIFICATION_TYPES,
  WEBHOOK_EVENTS,
} from '@ostiary/contract'
import { AGE_GATE } from '../age-gate.ts'
import { answer, argument, type Command, type Invocation, oneOf, text, UsageError } from '../command.ts'
import { atService, CONNECTION_OPTIONS, CONNECTION_USAGE, type Connection } from '../connection.ts'
import { closest } from '../suggest.ts'
import { paint, table } from '../terminal.ts'
import { AREAS, areasOf, EVENT_NAMES, type Story, storyOf, TRIGGER_WORDS } from '../trigger/stories.ts'

const REDIRECT = 'https://shop.example/done'

export const triggerCommands: readonly Command[] = [
  {
    name: 'trigger',
    usage: `ostiary trigger <event or code> [--area age|verification] [--type ENROLL|SIGN-IN|VERIFY] [--callback <url>]
       [--url <address>] [--key <key>] [--profile <name>] [--json]
       ostiary trigger --list

Creates a test session and ends it, so that its event is sent: to the event stream ("ostiary listen" shows it), and to
--callback where one is given. Area D needs a callback and has the service's own inbox without one, which leads to the
stream. A code is a number or a name, such as -9 or FACE_NOT_MATCH; a diagnostic code comes with -19, which ends the
session. --area chooses for codes that both areas have: age without it. --list shows every event and code.
${CONNECTION_USAGE}`,
    options: {
      ...CONNECTION_OPTIONS,
      list: { type: 'boolean' },
      area: { type: 'string' },
      type: { type: 'string' },
      callback: { type: 'string' },
    },
    values: { area: AREAS, type: VERIFICATION_TYPES },
    words: TRIGGER_WORDS,
    run: (invocation) => (invocation.options.list ? list(invocation) : trigger(invocation)),
  },
]

async function list(invocation: Invocation): Promise<number> {
  const events = EVENT_NAMES.map((event) => ({ event, meaning: WEBHOOK_EVENTS[event].summary }))
  const codes = SESSION_CODE_NAMES.map((name) => {
    const { code, kind, meaning } = SESSION_CODES[name]
    return { code, name, kind, areas: areasOf(name), meaning }
  })
  const eventTable = table(
    ['EVENT', 'MEANING'],
    events.map(({ event, meaning }) => [event, meaning]),
  )
  const codeTable = table(
    ['CODE', 'NAME', 'AREAS', 'ENDS AS'],
    codes.map(({ code, name, areas }) => [
      String(code),
      name,
      areas.join(', '),
      areas.map((area) => storyOf(name, { area })?.event).join(', '),
    ]),
  )
  return answer(invocation, { events, codes }, `${eventTable}\n\n${codeTable}\n\nMeanings: docs/session-codes.md`)
}

/** What the host gets to know: the body of the event. */
interface Triggered {
  sessionId: string
  outcome: string | null
  errors: readonly number[]
  body: unknown
}

function trigger(invocation: Invocation): Promise<number> {
  const story = readStory(invocation)
  return atService(invocation, async (connection) => {
    if (connection.isLive) throw new UsageError('trigger needs a test key: live sessions end with a person')
    const { sessionId, outcome, errors, body } =
      story.area === 'age'
        ? await playAge(connection, story, invocation)
        : await playVerification(connection, story, invocation)
    const codes = errors.length === 0 ? 'no codes' : errors.join(', ')
    return answer(
      invocation,
      { event: story.event, sessionId, outcome, errors, body },
      `${paint(invocation.terminal, 'green', '✓')} ${story.event}  ${sessionId}  ${outcome} (${codes})`,
    )
  })
}

function readStory(invocation: Invocation): Story {
  const word = argument(invocation, 'event or code; "ostiary trigger --list" shows them')
  if (invocation.args.length > 1) throw new UsageError('One event or code at a time')
  const area = oneOf(invocation, 'area', AREAS)
  const type = oneOf(invocation, 'type', VERIFICATION_TYPES)
  const story = storyOf(word, { ...(area && { area }), ...(type && { type }) })
  if (story) return story
  const successor = RETIRED_SESSION_CODES[Number(word)]
  if (successor) throw new UsageError(`${word} is never sent: it is the old number of ${successor}`)
  const guess = closest(word.toLowerCase(), [...EVENT_NAMES, ...SESSION_CODE_NAMES.map((name) => name.toLowerCase())])
  const hint = guess === undefined ? '"ostiary trigger --list" shows all' : `Did you mean ${guess}?`
  throw new UsageError(`There is no event or code "${word}". ${hint}`)
}

async function playAge(connection: Connection, story: Story, invocation: Invocation): Promise<Triggered> {
  const callback = text(invocation, 'callback')
  const { client } = connection
  const { sessionId, token } = await client.age.create({
    redirectUrl: REDIRECT,
    ...AGE_GATE,
    ...(story.document && { requirements: ['face', 'identity_document'] }),
    ...(callback !== undefined && { callback: { url: callback } }),
  })
  await client.test.outcome(sessionId, story.outcome)
  const body = await client.age.result(token)
  return { sessionId, outcome: body.outcome ?? null, errors: body.errors, body }
}

async function playVerification(connection: Connection, story: Story, invocation: Invocation): Promise<Triggered> {
  const { client, url } = connection
  const { sessionId } = await client.verification.create({
    type: story.type,
    redirectURL: REDIRECT,
    callback: { url: text(invocation, 'callback') ?? new URL('/events/inbox', url).href },
    transactionID: 'triggered',
    ...(story.type === 'VERIFY' && { customerId: 'triggered' }),
    ...(story.document && { requirements: ['face', 'identity_document'] }),
  })
  await client.test.outcome(sessionId, story.outcome)
  const body = await client.verification.webhook(sessionId)
  return { sessionId, outcome: body.outcome, errors: body.errors.map(({ code }) => code), body }
}
