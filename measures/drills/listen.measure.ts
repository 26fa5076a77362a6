/**
 * `ostiary listen --forward` while sessions end: stopped by Ctrl-C four times over 1,000 events, then killed with -9 three times over 120; then the
 * API under it is killed with -9 twice over 120. Each stop comes while the receiver holds an event that it has not answered yet, which is the
 * worst moment. Nothing may be lost; after Ctrl-C and after the API's death nothing may come twice, and after kill -9 of the listener only the one
 * event whose answer was cut off, under the same delivery id.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiKeyRecord } from '@ostiary/contract'
import { signWebhook } from '@ostiary/crypto'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { eventually } from '@ostiary/testkit/eventually'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { COMPILED, freePorts, ostiary, ROOT, startApi, startServices } from '@ostiary/testkit/run'
import { inParallel } from './enrols.ts'

const LANES = 8
const BY_INTERRUPT = { events: 1_000, stopAt: [150, 400, 650, 900], signal: 'SIGINT' } as const
const BY_KILL = { events: 120, stopAt: [30, 60, 90], signal: 'SIGKILL' } as const

const OF_API = { events: 120, stopAt: [30, 90], signal: undefined } as const

type Round = typeof BY_INTERRUPT | typeof BY_KILL | typeof OF_API

interface Service {
  url: string
  apiKey: string
  /** kill -9, and a new one at the same address. Resolves when that is ready. */
  replaceApi(): Promise<void>
}

export const measure: Measure = async ({ say }) => {
  const database = await createDatabase(startServices(), 'drill')
  const [port, adminPort] = await freePorts(2)
  const settings = { ...testSettings(database.url), PORT: String(port), ADMIN_PORT: String(adminPort) }
  const start = () => startApi({ env: settings, logName: 'drill-listen' })
  let api = await start()
  const { id } = ostiary<{ id: string }>(settings, 'tenants', 'create', 'Drill')
  const key = ostiary<ApiKeyRecord>(settings, 'keys', 'create', '--tenant', id, '--test', '--plan', 'unmetered')
  const replaceApi = async () => {
    await api.stop('SIGKILL')
    api = await start()
  }
  const service = { url: api.url, apiKey: key.api_key, replaceApi }
  try {
    const interrupted = await play(service, BY_INTERRUPT, say)
    const killed = await play(service, BY_KILL, say)
    const cutOff = await play(service, OF_API, say)
    const rounds = [interrupted, killed, cutOff]
    const total = (figure: 'lost' | 'forged' | 'unlike') => rounds.reduce((sum, round) => sum + round[figure], 0)
    const events = BY_INTERRUPT.events + BY_KILL.events + OF_API.events
    return [
      { name: 'listen.events', value: events, floor: events, is: 'least' },
      { name: 'listen.lost', value: total('lost'), floor: 0, is: 'most' },
      { name: 'listen.wrong-signatures', value: total('forged'), floor: 0, is: 'most' },
      { name: 'listen.twice-after-interrupt', value: interrupted.repeated, floor: 0, is: 'most' },
      { name: 'listen.twice-after-api-kill', value: cutOff.repeated, floor: 0, is: 'most' },
      { name: 'listen.sent-again-per-kill', value: killed.repeated / BY_KILL.stopAt.length, floor: 1, is: 'most' },
      { name: 'listen.twice-by-delivery-id', value: total('unlike'), floor: 0, is: 'most' },
    ]
  } finally {
    await api.stop('SIGKILL')
    await database.drop()
  }
}

/** Sessions end while a listener, or the API, is stopped and started again. */
async function play(service: Service, { events, stopAt, signal }: Round, say: (text: string) => void) {
  const state = mkdtempSync(join(tmpdir(), 'ostiary-listen-'))
  /** Delivery ids by session: a session that came under two ids would be handled twice. */
  const arrived = new Map<string, string[]>()
  const stops: number[] = [...stopAt]
  let [forged, listener]: [number, ChildProcess | undefined] = [0, undefined]
  let replaced = Promise.resolve()
  const strike = () => {
    if (signal !== undefined) listener?.kill(signal)
    else
      replaced = replaced
        .then(service.replaceApi)
        .then(() => say(`after kill -9 the API is back, ${arrived.size} events`))
  }
  const receiver = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = request.headers
    if ((await signWebhook(service.apiKey, String(timestamp), body)) !== signature) forged++
    const { sessionId } = JSON.parse(body) as { sessionId: string }
    arrived.set(sessionId, [...(arrived.get(sessionId) ?? []), String(request.headers['x-service-delivery'])])
    if (arrived.size === stops[0]) {
      stops.shift()
      strike()
    }
    response.writeHead(200).end()
  })
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const start = () => startListener(service, target, state)
  listener = await start()
  let isDone = false
  const restarts = (async () => {
    for (;;) {
      if (listener.exitCode === null && listener.signalCode === null) await once(listener, 'exit')
      if (isDone) return
      say(`${signal} at ${arrived.size} events; starting again`)
      listener = await start()
    }
  })()
  const sessions: string[] = []
  await inParallel(events, LANES, async () => void sessions.push(await endSession(service)))
  await eventually(() => sessions.every((id) => arrived.has(id)) && stops.length === 0, 'events are missing')
  await replaced
  isDone = true
  listener.kill('SIGINT')
  await restarts
  receiver.close()
  receiver.closeAllConnections()
  rmSync(state, { recursive: true })
  const all = [...arrived.values()]
  return {
    lost: sessions.filter((id) => !arrived.has(id)).length,
    repeated: all.reduce((sum, ids) => sum + ids.length - 1, 0),
    unlike: all.filter((ids) => new Set(ids).size > 1).length,
    forged,
  }
}

/** Resolves when it reads. The first one begins now, so sessions must not end before that. */
async function startListener({ url, apiKey }: Service, target: string, state: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [`${ROOT}apps/cli/src/main.ts`, 'listen', '--forward', target, '--json'], {
    env: {
      PATH: process.env.PATH ?? '',
      ...COMPILED,
      HOME: state,
      XDG_STATE_HOME: state,
      OSTIARY_URL: url,
      OSTIARY_API_KEY: apiKey,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const hasPlace = () => readdirSync(state, { recursive: true }).some((name) => String(name).endsWith('.json'))
  await eventually(hasPlace, 'the listener does not begin')
  return child
}

/** Tries again with a new session while the API is away. What it returns was acknowledged. */
async function endSession(service: Service): Promise<string> {
  return eventually(
    () => tryToEnd(service).catch((error) => (error instanceof TypeError ? undefined : Promise.reject(error))),
    'no session ends',
  )
}

async function tryToEnd({ url, apiKey }: Service): Promise<string> {
  const post = async (path: string, body: object) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response
  }
  const created = await post('/session', { redirectUrl: 'https://shop.example/back', ageThreshold: 30 })
  const { sessionId } = (await created.json()) as { sessionId: string }
  await post(`/test/sessions/${sessionId}/outcome`, {})
  return sessionId
}
