/**
 * Hostile uploads for area B, over plain sockets. Each must be answered as documented and in time, never with a fault of
 * the service; a body without end is not read on; the memory stays bounded, and an honest file is answered as before.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ERRORS, ErrorBody, errorCodesOf, ScreenReply, screenFile } from '@ostiary/contract'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { ROOT, startApi, startServices } from '@ostiary/testkit/run'
import { Compile } from 'typebox/compile'
import { inParallel } from './enrols.ts'
import { type HostileUpload, mutatedUpload, worstUploads } from './hostile-csv.ts'
import { seeded } from './malformed.ts'
import { createKeys } from './swap.ts'

const WORKERS = 2
/** Far beyond what a busy machine needs: an answer that is only slow is a matter of `hostile.slowest-seconds`. */
const GIVE_UP_MS = 60_000
const KEYS = 12
const STALLED_MS = 60_000
const SILENCE = 'silence'
const CUT = 'refusal cut'
/** Each silent answer takes the full time limit, so the drill stops after this many. */
const ENOUGH_SILENCE = 4
/** What may be taken from a client whose body never ends: the limit of a form, and what the kernels hold. */
const ENDLESS_BYTES = 16e6

const replies = { error: Compile(ErrorBody), screened: Compile(ScreenReply) }
const documented: readonly string[] = errorCodesOf(screenFile)

export const measure: Measure = async ({ full, say }) => {
  const mutations = full ? 3_000 : 300
  const seed = full ? Date.now() % 1_000_000 : 20_261_115
  const random = seeded(seed)
  const honest = readFileSync(`${ROOT}apps/server/demo/people.csv`, 'utf8')
  const database = await createDatabase(startServices(), 'drill')
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-hostile-'))
  const settings = { ...testSettings(database.url), SANCTIONS_DIR: folder }
  const api = await startApi({ env: settings, logName: 'drill-sanctions-hostile' })
  try {
    const [honestKey = '', ...keys] = await createKeys(settings, KEYS + 1)
    const before = await askHonestly(api.url, honestKey, honest)
    if (before.status !== 200) throw new Error(`The honest file was answered ${before.status} ${before.text}`)
    const port = Number(new URL(api.url).port)
    const wrong = new Map<string, number>()
    const answered = new Map<string, number>()
    const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
    let slowest = { kind: '', seconds: 0 }
    let slowestCloseMs = 0
    let keyAt = 0
    const run = async (upload: HostileUpload): Promise<void> => {
      const own = keyAt
      const answer = await send(port, keys[own] ?? '', upload)
      const { name, fault } = judge(upload, answer)
      add(answered, name)
      if (fault) add(wrong, `${upload.kind}: ${fault}`)
      if (answer.seconds > 2) say(`${upload.kind} took ${answer.seconds.toFixed(1)} s`)
      if (answer.seconds > slowest.seconds) slowest = { kind: upload.kind, seconds: answer.seconds }
      if (upload.endless) slowestCloseMs = Math.max(slowestCloseMs, answer.closedMs)
      // An earlier upload still occupies the key's slot. Continue with another key, so that one fault does not hide the rest.
      if (answer.status !== 429 || own + 1 === keys.length) return
      keyAt = Math.max(keyAt, own + 1)
      await run(upload)
    }
    await inParallel(mutations, WORKERS, async () => {
      if ((answered.get(SILENCE) ?? 0) < ENOUGH_SILENCE) await run(mutatedUpload(random, honest))
    })
    const worst = worstUploads(random, full)
    let reached = 0
    for (const upload of worst) {
      await run(upload)
      const now = memoryOf(api.pid)
      if (now > reached + 0.03) say(`${now.toFixed(2)} GB after ${upload.kind}`)
      reached = Math.max(reached, now)
    }
    say(`${worst.length} of the worst are answered; the slowest, ${slowest.kind}, in ${slowest.seconds.toFixed(2)} s`)

    const counts = [...answered].sort().map(([name, times]) => `${name} ${times}x`)
    say(`seed ${seed}: ${counts.join(', ')}`)
    for (const [finding, times] of [...wrong].slice(0, 30)) say(`WRONG ${times}x ${finding}`)
    const after = await askHonestly(api.url, honestKey, honest)
    if (after.text !== before.text) say(`the honest file is now answered ${after.status} ${after.text.slice(0, 200)}`)
    const stalled = await countStalled(api.url, keys, honest)
    const faults = api
      .log()
      .split('\n')
      .filter((line) => /"status":5\d\d|"level":"fatal"/.test(line)).length
    return [
      { name: 'hostile.undocumented', value: sum(wrong), floor: 0, is: 'most' },
      { name: 'hostile.refusals-cut', value: answered.get(CUT) ?? 0, floor: 0, is: 'most', load: true },
      { name: 'hostile.faults-in-log', value: faults, floor: 0, is: 'most' },
      { name: 'hostile.stalled-connections', value: stalled, floor: 0, is: 'most' },
      { name: 'hostile.slowest-seconds', value: slowest.seconds, floor: 10, is: 'most', load: true },
      { name: 'hostile.slowest-close-seconds', value: slowestCloseMs / 1000, floor: 5, is: 'most', load: true },
      { name: 'hostile.memory-gb', value: memoryOf(api.pid), floor: 0.7, is: 'most', load: true },
      {
        name: 'hostile.alive',
        value: after.status === 200 && after.text === before.text ? 1 : 0,
        floor: 1,
        is: 'least',
      },
    ]
  } finally {
    await api.stop()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((total, times) => total + times, 0)

/** The most memory the process ever had, in gigabytes. */
function memoryOf(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return (Number(kilobytes) * 1024) / 1e9
}

/** The answer without the fields that differ each time; status 0 when no answer came. */
async function askHonestly(url: string, key: string, csv: string): Promise<{ status: number; text: string }> {
  const body = new FormData()
  body.set('file', new File([csv], 'people.csv'))
  const request = { method: 'POST', headers: { 'x-api-key': key }, body, signal: AbortSignal.timeout(GIVE_UP_MS) }
  try {
    const response = await fetch(`${url}/v2/open-sanctions/file/demo`, request)
    return { status: response.status, text: (await response.text()).replace(/"runId":"[^"]*"/, '') }
  } catch (error) {
    return { status: 0, text: (error as Error).message }
  }
}

/** After a refused upload, small or large, an honest one on the same connection must be answered, or the connection closed. */
async function countStalled(url: string, keys: readonly string[], honest: string): Promise<number> {
  const refused = [
    'x\n',
    `x\n${'1,2\n'.repeat(100_000)}`,
    'x'.repeat(2_000_000),
    'x'.repeat(2_300_000),
    'x'.repeat(4_000_000),
  ]
  const outcomes = await Promise.all(
    refused.map(async (csv, n) => {
      const key = keys.at(-1 - n) ?? ''
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      try {
        await post(url, key, csv, agent)
        return (await post(url, key, honest, agent)) === 200
      } finally {
        agent.destroy()
      }
    }),
  )
  return outcomes.filter((isFine) => !isFine).length
}

/** The status, or 0 when there was no answer. */
function post(url: string, key: string, csv: string, agent: Agent): Promise<number> {
  const head = '--shared\r\ncontent-disposition: form-data; name="file"; filename="x.csv"\r\n\r\n'
  const body = Buffer.from(`${head}${csv}\r\n--shared--\r\n`)
  return new Promise((resolve) => {
    const headers = {
      'x-api-key': key,
      'content-type': 'multipart/form-data; boundary=shared',
      'content-length': body.length,
    }
    const sent = request(`${url}/v2/open-sanctions/file/demo`, { method: 'POST', agent, headers })
    sent.on('response', (response) => {
      response.resume()
      response.on('close', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', () => resolve(0))
    sent.setTimeout(STALLED_MS, () => sent.destroy())
    sent.end(body)
  })
}

interface Answer {
  /** 0 when the connection ended without one. */
  status: number
  body: Buffer
  /** Until the answer was there. */
  seconds: number
  sentBytes: number
  /** From the answer to the end of the connection. */
  closedMs: number
  /** The connection was still open when we gave up. */
  isLeftOpen: boolean
}

function send(port: number, key: string, { path, headers, body, endless, breaksOff }: HostileUpload): Promise<Answer> {
  const length = breaksOff ? body.length + 1_000 : body.length
  const all = { 'content-length': headers['transfer-encoding'] ? '' : String(length), ...headers }
  const lines = Object.entries({ host: 'drill', connection: 'close', 'x-api-key': key, ...all })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST /v2/open-sanctions/file/${path} HTTP/1.1\r\n${lines.join('')}\r\n`
  return new Promise((resolve) => {
    const started = performance.now()
    let [sentBytes, answeredAt, closed] = [0, 0, false]
    const chunks: Buffer[] = []
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const finish = (isLeftOpen = false) => {
      if (closed) return
      closed = true
      clearTimeout(timer)
      socket.destroy()
      const answer = readAnswer(Buffer.concat(chunks))
      const end = performance.now()
      const arrived = answeredAt || end
      resolve({ ...answer, seconds: (arrived - started) / 1000, sentBytes, closedMs: end - arrived, isLeftOpen })
    }
    const timer = setTimeout(finish, GIVE_UP_MS, true)
    const write = (piece: Buffer | string) => {
      sentBytes += piece.length
      return socket.write(piece)
    }
    const goOn = () => {
      if (endless) while (!closed && sentBytes < 4 * ENDLESS_BYTES && write(endless));
    }
    socket.on('connect', () => {
      write(head)
      write(body)
      if (breaksOff) socket.end()
      goOn()
    })
    socket.on('drain', goOn)
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      answeredAt = performance.now()
      // How long a connection stays open is asked only of those whose body never ends, and in countStalled.
      if (!endless && isWhole(chunks)) finish()
    })
    for (const event of ['end', 'error', 'close']) socket.on(event, () => finish())
  })
}

function isWhole(chunks: readonly Buffer[]): boolean {
  const [first = Buffer.of()] = chunks
  const headEnd = first.indexOf('\r\n\r\n') + 4
  const length = /\r\ncontent-length: (\d+)/i.exec(first.subarray(0, headEnd).toString('latin1'))?.[1]
  if (length === undefined) return (chunks.at(-1) ?? first).subarray(-5).toString('latin1') === '0\r\n\r\n'
  return chunks.reduce((sum, { length }) => sum + length, 0) >= headEnd + Number(length)
}

function readAnswer(bytes: Buffer): { status: number; body: Buffer } {
  const headEnd = bytes.indexOf('\r\n\r\n')
  const head = bytes.subarray(0, Math.max(0, headEnd)).toString('latin1')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
  const rest = bytes.subarray(headEnd + 4)
  return { status, body: /transfer-encoding: chunked/i.test(head) ? unchunked(rest) : rest }
}

function unchunked(bytes: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16)
    if (lineEnd < 0 || !(size > 0)) break
    pieces.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
  return Buffer.concat(pieces)
}

/** A name for the answer, and what is wrong with it. */
function judge({ expect, endless }: HostileUpload, answer: Answer): { name: string; fault?: string } {
  const { status, body, sentBytes, isLeftOpen } = answer
  const shown = body.subarray(0, 160).toString('latin1')
  // The service closes while the client still sends, and the reset may arrive before the client has read the refusal.
  if (status === 0 && endless && !isLeftOpen) return { name: CUT }
  if (status === 0) return { name: SILENCE, fault: `no answer after ${answer.seconds.toFixed(1)} s` }
  let reply: unknown
  try {
    reply = JSON.parse(body.toString())
  } catch {
    return { name: `${status}`, fault: `${status}, no JSON: ${shown}` }
  }
  if (endless && sentBytes > ENDLESS_BYTES)
    return { name: `${status}`, fault: `${(sentBytes / 1e6).toFixed(0)} MB were read` }
  if (endless && isLeftOpen) return { name: `${status}`, fault: `still open ${GIVE_UP_MS / 1000} s later` }
  if (status === 200) {
    if (!replies.screened.Check(reply)) return { name: '200', fault: `not as documented: ${shown}` }
    const { summary, results } = reply
    const matched = results.filter(({ match }) => match === 'true').length
    if (summary.total !== results.length || summary.matched.count !== matched)
      return { name: '200', fault: 'wrong counts' }
    return { name: '200', ...(expect && !expect.includes(200) && { fault: `200 instead of ${expect}` }) }
  }
  if (!replies.error.Check(reply)) return { name: `${status}`, fault: `not as documented: ${status} ${shown}` }
  const { code, statusCode } = reply
  const name = `${status} ${code}`
  if (status === 429 || status >= 500 || ERRORS[code].status !== status || statusCode !== status)
    return { name, fault: `${name} ${shown}` }
  if (expect ? expect.includes(code) : documented.includes(code)) return { name }
  return { name, fault: `${name} instead of ${expect ?? 'an error of the operation'}` }
}
