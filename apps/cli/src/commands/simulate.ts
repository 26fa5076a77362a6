import { setTimeout as sleep } from 'node:timers/promises'
import {
  AGE_LIMITS,
  type AgeResult,
  DOCUMENT_FORMATS,
  findSessionCodeName,
  type LaunchState,
  MOVEMENT_KINDS,
  VERIFICATION_TYPES,
  writeIndicators,
} from '@ostiary/contract'
import { createDevice, DeviceError, systemClock } from '@ostiary/device'
import {
  createSimulatedClock,
  runFlow,
  type SimulatedDocument,
  type SimulatedPerson,
  SPOOFS,
  type SpoofName,
  seededRandom,
} from '@ostiary/device/simulated'
import type { VerificationWebhook } from '@ostiary/sdk'
import { AGE_GATE } from '../age-gate.ts'
import { type Command, type Invocation, number, text, UsageError } from '../command.ts'
import { CONNECTION_OPTIONS, CONNECTION_USAGE, connect, inWords } from '../connection.ts'
import { describeConsent } from '../simulate/consent.ts'
import { DOCUMENT_FAULT_LINES, describeDocument, readDocument, readOrder } from '../simulate/document.ts'
import { describeMovements, readNeeds } from '../simulate/needs.ts'
import { tokensFor } from '../simulate/tokens.ts'
import { createVerification, describeWebhook, partOf, readFace, readType } from '../simulate/verification.ts'
import { paint } from '../terminal.ts'

const DEFAULT_AGE = 34
const DEFAULT_REDIRECT = 'http://localhost/age-checked'
const NO_VERDICT = 3
const USER_AGENTS = {
  phone:
    'Mozilla/5.0 (Linux; Android 15; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
  desktop: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
} as const
type DeviceName = keyof typeof USER_AGENTS

const spoofLines = Object.entries(SPOOFS).map(([name, { meaning }]) => `  ${name.padEnd(10)} ${meaning}`)

export const simulateCommands: readonly Command[] = [
  {
    name: 'simulate',
    usage: `ostiary simulate --create [--threshold <years>] [--step-up] [--order face-first|document-first|alone] [--callback <url>] [--redirect <url>]
       ostiary simulate --create --type ENROLL|SIGN-IN|VERIFY [--puid <id> | --customer-id <text>] [--callback <url>] [--redirect <url>]
       ostiary simulate --launch-url <url> [--number <digits>]
       all: [--face <number>] [--age <years>] [--document [<fault>] [--document-format <format>]]
             [--cannot <kinds>] [--pace slow] [--spoof <kind>] [--decline] [--cancel] [--desktop] [--handoff] [--real-time]
             [--keep <file>] [--seed <number>] [--url <address>] [--key <key>] [--json]

Plays the user's device in a session of a test key: opens, consents, answers the challenge, submits. The person, the
camera and the estimate are made up; everything else is the real exchange.
--create creates the session and reads its result. That is a gate for 18: a person who looks younger than ${AGE_GATE.ageThreshold} shows a document, and
so does one whose estimate is in doubt. With --threshold or --order it is an age session of these settings, with --type one that
enrols a face, finds its person again or compares with one person. --launch-url plays an existing session; a device learns only whether the flow was completed, and
only the host can read the verdict. With the URL of a QR code, --number is the number on the first screen.
--face says whose face it is: the same number is the same person, 1 when absent. Such a person has no passkey.
Where the tenant stores tokens (templates: token, token_on_device), the device sends an encrypted token or probe instead of a
vector. --keep stores its keys in a file: a later SIGN-IN or VERIFY with the same file is recognised, any other is not (-36).
--age is how old the person looks: ${DEFAULT_AGE} when absent. --seed repeats the same person.
--document gives the person an invented passport (or --document-format), for sessions that ask for one; --order asks for it.
After --document you may say what is wrong with it:
${DOCUMENT_FAULT_LINES.join('\n')}
--cannot names one or two kinds of movement that the person cannot make (${MOVEMENT_KINDS.join(', ')}), such as turn,up; --pace slow
gives three times as long for each. The verdict is the same, and assurance names both.
--desktop opens it on a desktop; --handoff does too, and continues on a phone. --real-time takes as long as a person would.
--decline refuses consent, --cancel leaves before it is asked for.
--spoof cheats, to show how the service reacts:
${spoofLines.join('\n')}
${CONNECTION_USAGE}

Exit code: 0 there is a verdict or a person, ${NO_VERDICT} there is no verdict or person, 1 failure, 2 wrong usage.
With --launch-url: 0 completed as far as the device can see, also where the host reads AGE_UNKNOWN; ${NO_VERDICT} failed or not completed.`,
    options: {
      ...CONNECTION_OPTIONS,
      create: { type: 'boolean' },
      'launch-url': { type: 'string' },
      number: { type: 'string' },
      type: { type: 'string' },
      face: { type: 'string' },
      puid: { type: 'string' },
      'customer-id': { type: 'string' },
      threshold: { type: 'string' },
      'step-up': { type: 'boolean' },
      order: { type: 'string' },
      document: { type: 'boolean' },
      'document-format': { type: 'string' },
      callback: { type: 'string' },
      redirect: { type: 'string' },
      age: { type: 'string' },
      cannot: { type: 'string' },
      pace: { type: 'string' },
      spoof: { type: 'string' },
      decline: { type: 'boolean' },
      cancel: { type: 'boolean' },
      desktop: { type: 'boolean' },
      handoff: { type: 'boolean' },
      'real-time': { type: 'boolean' },
      seed: { type: 'string' },
      keep: { type: 'string' },
    },
    values: {
      type: VERIFICATION_TYPES,
      order: ['face-first', 'document-first', 'alone'],
      'document-format': DOCUMENT_FORMATS,
      cannot: MOVEMENT_KINDS,
      pace: ['slow'],
      spoof: Object.keys(SPOOFS),
    },
    run: simulate,
  },
]

interface Target {
  baseUrl: string
  sessionId: string
  handoffCode?: string
  /** On the screen of the first device. */
  number?: string
  /** Reads the result. Only present when this command created the session. */
  readResult?: () => Promise<Result>
}

type Result = AgeResult | VerificationWebhook

/** How the simulated device left the session: the last state, or the refusal. */
type FlowEnd = { state: LaunchState } | { refused: DeviceError }

async function simulate(invocation: Invocation): Promise<number> {
  const { terminal, options } = invocation
  const say = (who: string, what: string) => {
    if (!options.json) terminal.out(`  ${paint(terminal, 'dim', who.padEnd(8))} ${what}`)
  }
  const person = readPerson(invocation)
  const target = options.create ? await createTarget(invocation) : launchTarget(invocation)
  if (!options.json) terminal.out(paint(terminal, 'bold', `Session ${target.sessionId}`))
  const end = await play({ invocation, target, person, say })
  // An area D session that has not ended has no webhook to read.
  const isOpen = 'state' in end && end.state.flowStatus === null
  const result = isOpen && readType(invocation) ? undefined : await target.readResult?.()
  if (options.json) terminal.out(JSON.stringify({ ...jsonOf(end), ...(result && { result }) }))
  else {
    const [headline = '', ...more] = describeEnd(end)
    terminal.out(`\n${paint(terminal, 'bold', headline)}`)
    for (const line of [...more, ...(result ? describeResult(result) : describeUnread(end))]) terminal.out(line)
  }
  return hasVerdict(end, result) ? 0 : NO_VERDICT
}

/** Only the host can read a verdict. A device learns only that the flow was completed, and in area D also that it failed. */
function hasVerdict(end: FlowEnd, result: Result | undefined): boolean {
  if (result) return isAge(result) ? result.status !== 'AGE_UNKNOWN' : result.status === 'SUCCESS'
  if (!('state' in end)) return false
  const { flowStatus, state, errors } = end.state
  return flowStatus === 'COMPLETED' && state !== 'FAILED' && errors.length === 0
}

function isAge(result: Result): result is AgeResult {
  return 'flowStatus' in result
}

interface Person {
  ageYears: number
  face: number
  seed: number
  spoof?: SpoofName
  document?: SimulatedDocument
  needs?: SimulatedPerson['needs']
}

function readPerson(invocation: Invocation): Person {
  const spoof = text(invocation, 'spoof')
  if (spoof !== undefined && !isSpoof(spoof)) {
    throw new UsageError(`--spoof must be one of ${Object.keys(SPOOFS).join(', ')}`)
  }
  const ageYears = years(invocation, 'age') ?? DEFAULT_AGE
  const [chance = 0] = crypto.getRandomValues(new Uint32Array(1))
  const seed = number(invocation, 'seed') ?? chance
  const document = readDocument(invocation)
  const needs = readNeeds(invocation)
  return {
    ...{ ageYears, face: readFace(invocation), seed },
    ...(spoof !== undefined && { spoof }),
    ...(document && { document }),
    ...(needs && { needs }),
  }
}

function isSpoof(name: string): name is SpoofName {
  return Object.hasOwn(SPOOFS, name)
}

function years(invocation: Invocation, name: string): number | undefined {
  const value = text(invocation, name)
  if (value === undefined) return undefined
  const { thresholdMin, thresholdMax } = AGE_LIMITS
  if (!/^\d+(\.\d+)?$/.test(value) || Number(value) < thresholdMin || Number(value) > thresholdMax) {
    throw new UsageError(`--${name} must be a number of years from ${thresholdMin} to ${thresholdMax}`)
  }
  return Number(value)
}

async function createTarget(invocation: Invocation): Promise<Target> {
  if (text(invocation, 'launch-url') !== undefined) throw new UsageError('Give --create or --launch-url, not both')
  const requirements = readOrder(invocation)
  const { client, url, hasKey } = connect(invocation)
  if (!hasKey) throw new UsageError('A session belongs to a tenant: set OSTIARY_API_KEY to a test key, or say --key')
  if (isLive(invocation)) throw new UsageError('Simulated people are taken with test keys only: use an ost_test_ key')
  const inTheirWords = (error: unknown) => {
    throw inWords(error, url)
  }
  const type = readType(invocation)
  if (type) {
    const { sessionId, readResult } = await createVerification(invocation, client, type).catch(inTheirWords)
    return { baseUrl: url, sessionId, readResult: () => readResult().catch(inTheirWords) }
  }
  const callback = text(invocation, 'callback')
  const threshold = years(invocation, 'threshold')
  const own = {
    ageThreshold: threshold ?? AGE_GATE.ageThreshold,
    stepUpEnabled: invocation.options['step-up'] === true,
  }
  const body = {
    redirectUrl: text(invocation, 'redirect') ?? DEFAULT_REDIRECT,
    ...(threshold === undefined && !requirements ? AGE_GATE : own),
    ...(requirements && { requirements }),
    metadata: { simulated: true },
    ...(callback !== undefined && { callback: { url: callback } }),
  }
  const { token, sessionId } = await client.age.create(body).catch(inTheirWords)
  return { baseUrl: url, sessionId, readResult: () => client.age.result(token).catch(inTheirWords) }
}

function isLive(invocation: Invocation): boolean {
  return (text(invocation, 'key') ?? invocation.env.OSTIARY_API_KEY ?? '').startsWith('ost_live_')
}

/** The API has the address of the launch page, unless --url gives another. */
function launchTarget(invocation: Invocation): Target {
  const launchUrl = text(invocation, 'launch-url')
  if (launchUrl === undefined) throw new UsageError('Give --create, or --launch-url with the URL of a session')
  if (!URL.canParse(launchUrl)) throw new UsageError('--launch-url must be a URL')
  const { origin, searchParams, hash } = new URL(launchUrl)
  const sessionId = searchParams.get('sessionId')
  if (sessionId === null) throw new UsageError('--launch-url has no sessionId in its query')
  const handoffCode = new URLSearchParams(hash.slice(1)).get('h')
  const baseUrl = text(invocation, 'url') ?? (invocation.env.OSTIARY_URL || origin)
  const shown = text(invocation, 'number')
  if (shown !== undefined && !/^\d\d$/.test(shown)) throw new UsageError('--number must be two digits')
  return {
    ...{ baseUrl, sessionId },
    ...(handoffCode !== null && { handoffCode }),
    ...(shown !== undefined && { number: shown }),
  }
}

interface Play {
  invocation: Invocation
  target: Target
  person: Person
  say: (who: string, what: string) => void
}

async function play({ invocation, target, person, say }: Play): Promise<FlowEnd> {
  const { options } = invocation
  const first: DeviceName = options.desktop || options.handoff ? 'desktop' : 'phone'
  try {
    if (!options.handoff) return { state: await playOn(first, { invocation, target, person, say }) }
    const desktop = await makeDevice(first, target, systemClock)
    say(first, 'opens the session')
    await desktop.open(target.handoffCode)
    const { code, number } = await desktop.handoff()
    say(first, number === undefined ? 'shows a QR code' : `shows a QR code and the number ${number}`)
    const scanned = { ...target, handoffCode: code, ...(number !== undefined && { number }) }
    return { state: await playOn('phone', { invocation, target: scanned, person, say }) }
  } catch (error) {
    if (error instanceof DeviceError && error.status > 0) return { refused: error }
    if (error instanceof DeviceError) throw new Error(`${target.baseUrl} does not answer. Is the API running there?`)
    throw error
  }
}

async function playOn(name: DeviceName, { invocation, target, person, say }: Play): Promise<LaunchState> {
  const { options } = invocation
  const { seed, spoof, document, needs } = person
  // A late answer needs real time to pass, because the service measures with its own clock.
  const isReal = options['real-time'] === true || spoof === 'late'
  const clock = createSimulatedClock(systemClock, isReal ? { wait: (ms) => sleep(ms) } : {})
  const device = await makeDevice(name, target, clock)
  const onStep = (step: string) => say(name, step)
  const { handoffCode } = target
  if (options.cancel) {
    onStep('opens the session')
    await device.open(handoffCode)
    onStep('cancels')
    return device.cancel()
  }
  // Open the session here to learn what it asks for. The flow continues from this reply.
  const opened = await device.open(handoffCode)
  let isFirst = true
  const open = (code?: string) => {
    const reply = isFirst ? Promise.resolve(opened) : device.open(code)
    isFirst = false
    return reply
  }
  const tokens = await tokensFor(opened, invocation, onStep)
  return runFlow(
    { ...device, open },
    {
      clock,
      random: seededRandom(seed),
      ...partOf(opened, person),
      indicators: writeIndicators(new Set()),
      browser: { kind: 'ordinary' },
      onStep,
      declines: options.decline === true,
      ...(target.number !== undefined && { number: target.number }),
      ...(spoof !== undefined && { spoof }),
      ...(document && { document }),
      ...(needs && { needs }),
      ...(tokens && { tokens }),
    },
  )
}

function makeDevice(name: DeviceName, { baseUrl, sessionId }: Target, clock: typeof systemClock) {
  const platform = name === 'phone' ? 'mobile' : 'desktop'
  return createDevice({ baseUrl, sessionId, platform, clock, userAgent: USER_AGENTS[name] })
}

function jsonOf(end: FlowEnd) {
  if ('state' in end) return end
  const { status, code, message } = end.refused
  return { refused: { status, code, message } }
}

/** What a simulated person cannot do. */
const WHY_IT_STANDS: Readonly<Record<string, readonly string[]>> = {
  DOC_ACTIVE: ['  The session asks for a document: --document gives the person one'],
  PASSKEY_ACTIVE: ['  The session asks for a passkey, and a simulated person has none'],
  HANDOFF_WAIT: ['  The session continues on a phone: --handoff plays one'],
}

const named = (code: number) => `${findSessionCodeName(code) ?? 'unknown'} (${code})`

function describeEnd(end: FlowEnd): string[] {
  if ('refused' in end) return [`Refused: ${end.refused.message} (${end.refused.code})`]
  const { flowStatus, state, errors, redirectUrl } = end.state
  const codes = errors.length === 0 ? '' : `, ${errors.map(named).join(', ')}`
  if (flowStatus === null) return [`The flow stands at ${state}${codes}`, ...(WHY_IT_STANDS[state] ?? [])]
  return [`The flow ended: ${flowStatus}${codes}`, ...(redirectUrl === null ? [] : [`  then to    ${redirectUrl}`])]
}

/** For a session that another host created: what a device knows of its end, and where the rest can be read. */
function describeUnread(end: FlowEnd): string[] {
  if (!('state' in end) || end.state.flowStatus !== 'COMPLETED') return []
  const { state } = end.state
  if (state === 'COMPLETED') return ['  verdict    not shown to a device: the host reads it with the session’s token']
  return [`  outcome    ${state}; not shown to a device: ${state === 'SUCCESS' ? 'the person' : 'the reason'}`]
}

function describeResult(result: Result): string[] {
  if (!isAge(result)) return describeWebhook(result)
  const { score, level, recommendation, flags } = result.riskEvaluation
  return [
    `  verdict    ${result.status}, threshold ${result.thresholds.ageThreshold}`,
    ...(result.errors.length > 0 ? [`  errors     ${result.errors.map(named).join(', ')}`] : []),
    ...describeDocument(result),
    ...describeConsent(result.consent),
    `  risk       ${level} ${score}, ${recommendation}${flags.length > 0 ? `: ${flags.join(', ')}` : ''}`,
    ...(result.assurance.level === 'none' ? [] : [`  rests on   ${result.assurance.method}`]),
    ...describeMovements(result.assurance),
  ]
}
