/**
 * 10,000 requests that no client should send. Each must be answered with a documented 4xx body: no 5xx, no silence, no
 * crash; afterwards the process works as before and its memory is back at its level.
 */
import { connect } from 'node:net'
import { type ApiKeyRecord, ERRORS, type ErrorBody } from '@ostiary/contract'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { freePorts, ostiary, startApi, startServices } from '@ostiary/testkit/run'
import { type OddRequest, oddRequest, seeded } from './malformed.ts'

const COUNT = 10_000
const CONCURRENCY = 8

export const measure: Measure = async ({ full, say }) => {
  const count = full ? COUNT * 5 : COUNT
  const seed = full ? Date.now() % 1_000_000 : 20_261_115
  const database = await createDatabase(startServices(), 'drill')
  const settings = testSettings(database.url)
  const [inspectPort = 0] = await freePorts(1)
  const api = await startApi({
    env: settings,
    logName: 'drill-malformed',
    nodeFlags: [`--inspect=127.0.0.1:${inspectPort}`],
  })
  const { id } = ostiary<{ id: string }>(settings, 'tenants', 'create', 'Drill')
  const { api_key } = ostiary<ApiKeyRecord>(settings, 'keys', 'create', '--tenant', id, '--test', '--plan', 'unmetered')
  const port = Number(new URL(api.url).port)
  try {
    await storm(port, api_key, seeded(1), 2_000)
    const before = await heapAfterCollection(inspectPort)
    const { answered, wrong } = await storm(port, api_key, seeded(seed), count)
    const after = await heapAfterCollection(inspectPort)
    say(
      `seed ${seed}: ${[...answered]
        .sort()
        .map(([status, times]) => `${status} ${times}x`)
        .join(', ')}`,
    )
    for (const [finding, times] of [...wrong].slice(0, 20)) say(`WRONG ${times}x ${finding}`)
    say(`heap in use ${(before / 1e6).toFixed(1)} MB before, ${(after / 1e6).toFixed(1)} MB after`)
    const health = await fetch(`${api.url}/health`)
    const faults = api
      .log()
      .split('\n')
      .filter((line) => line.includes('"status":5') || line.includes('"level":"fatal"')).length
    return [
      {
        name: 'malformed.answered',
        value: [...answered.values()].reduce((sum, times) => sum + times, 0),
        floor: count,
        is: 'least',
      },
      {
        name: 'malformed.wrong-answers',
        value: [...wrong.values()].reduce((sum, times) => sum + times, 0),
        floor: 0,
        is: 'most',
      },
      { name: 'malformed.faults-in-log', value: faults, floor: 0, is: 'most' },
      { name: 'malformed.healthy-after', value: health.ok ? 1 : 0, floor: 1, is: 'least' },
      { name: 'malformed.heap-ratio', value: after / before, floor: 1.15, is: 'most', load: true },
    ]
  } finally {
    await api.stop()
    await database.drop()
  }
}

async function storm(port: number, key: string, random: () => number, count: number) {
  const answered = new Map<number, number>()
  const wrong = new Map<string, number>()
  let sent = 0
  async function worker(): Promise<void> {
    while (sent < count) {
      sent++
      const request = oddRequest(random, key)
      const answer = await send(port, request.bytes)
      answered.set(answer.status, (answered.get(answer.status) ?? 0) + 1)
      const finding = judge(request, answer)
      if (finding) wrong.set(finding, (wrong.get(finding) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  return { answered, wrong }
}

interface Answer {
  status: number
  body: string
}

/** One connection per request: after a broken one nothing else can be sent. Status 0 means silence. */
function send(port: number, bytes: Buffer): Promise<Answer> {
  return new Promise((resolve) => {
    let text = ''
    const finish = () => {
      socket.destroy()
      const [head = '', body = ''] = text.split('\r\n\r\n')
      resolve({ status: Number(head.split(' ')[1] ?? 0), body })
    }
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk) => {
      text += chunk
      const [head = '', body = ''] = text.split('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
      if (Buffer.byteLength(body) >= length) finish()
    })
    socket.on('close', finish)
    socket.on('error', finish)
    socket.setTimeout(60_000, finish)
  })
}

/** What is wrong with an answer, or undefined. */
function judge(request: OddRequest, { status, body }: Answer): string | undefined {
  const shown = `${request.kind}: ${status} ${body.slice(0, 120)} for ${JSON.stringify(request.bytes.toString('latin1').slice(0, 160))}`
  if (status < 400 || status > 499) return shown
  if (request.expect && !request.expect.includes(status)) return `not one of ${request.expect}: ${shown}`
  try {
    const { statusCode, code, message, requestId } = JSON.parse(body) as ErrorBody
    const documented = Object.hasOwn(ERRORS, code) && ERRORS[code].status === status
    return documented && statusCode === status && typeof message === 'string' && typeof requestId === 'string'
      ? undefined
      : `not documented: ${shown}`
  } catch {
    return `no JSON: ${shown}`
  }
}

/** Asks the process, through Node's inspector, to collect garbage and to say how much is still in use. */
async function heapAfterCollection(inspectPort: number): Promise<number> {
  const [target] = (await (await fetch(`http://127.0.0.1:${inspectPort}/json/list`)).json()) as {
    webSocketDebuggerUrl: string
  }[]
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }))
  let id = 0
  const call = (method: string) =>
    new Promise<Record<string, number>>((resolve) => {
      const mine = ++id
      socket.addEventListener('message', ({ data }) => {
        const answer = JSON.parse(String(data)) as { id: number; result: Record<string, number> }
        if (answer.id === mine) resolve(answer.result)
      })
      socket.send(JSON.stringify({ id: mine, method }))
    })
  await call('Runtime.enable')
  await call('HeapProfiler.collectGarbage')
  await call('HeapProfiler.collectGarbage')
  const { usedSize = Number.NaN } = await call('Runtime.getHeapUsage')
  socket.close()
  return usedSize
}
