/**
 * Receivers that answer webhooks with anything but what they should: broken, cut, endless, contradictory, too large, too late. Each answer
 * comes from a seeded generator and goes over a real connection. The sender must end each call within its time limit, give it no status but its
 * own, take a success only with its whole body, close every connection, and keep nothing. What is an answer at all is for the parser of undici to decide.
 * Then 13,800 calls to receivers that answer some of them twice: none may get the status of another.
 * 4,000 answers; --full: 100,000 and another seed each time.
 *
 *   npm run drill -- hostile-receiver [--full] [--seed 202375]
 */
import { createServer, type Server, type Socket } from 'node:net'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createPooledOutbound, postForSpareAnswers, SPARE_ANSWERS_OPTIONS } from '@ostiary/server/measure'
import { eventually } from '@ostiary/testkit/eventually'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { sleep } from '@ostiary/testkit/run'
import { inParallel } from './enrols.ts'
import { type HostileAnswer, hostileAnswer, statusIn, type Verdict } from './hostile-answers.ts'
import { seeded } from './malformed.ts'

const COUNT = 4_000
const FULL_COUNT = 100_000
const WARM_UP = 1_000
const AT_ONCE = 128
const TIMEOUT_MS = 3_000
/** A call that has not ended by then hangs. */
const HANGS_MS = 20_000
const LATE_MS = 5
/** A process that does not run for so long stands still. */
const PAUSE_MS = 500
const MEMORY_MOST_MB = 8
const SPARE_POSTS = 13_800

export const measure: Measure = async ({ full, say }) => {
  const count = full ? FULL_COUNT : COUNT
  const { values } = parseArgs({
    args: process.argv.slice(4),
    options: { full: { type: 'boolean' }, seed: { type: 'string' } },
  })
  const seed = Number(values.seed ?? (full ? Date.now() % 1_000_000 : 20_261_118))
  const pauses = watchPauses()
  const receiver = await startReceiver()
  const outbound = createPooledOutbound({ allowNetworks: ['127.0.0.1/32'], timeoutMs: TIMEOUT_MS })
  const found = { answers: new Map<string, number>(), wrong: [] as string[], hangs: 0 }
  const handlesBefore = handles()

  async function call(answer: HostileAnswer, index: number): Promise<Verdict | 'hang'> {
    const owner = `tenant ${index % 4}`
    const url = receiver.expect(answer)
    const posting = outbound.post({ owner, url, allowHttp: true, headers: ['x-a', 'b'], body: Buffer.from('{}') })
    const hanging = new AbortController()
    const verdict = await Promise.race([
      posting.then(
        ({ status }) => status,
        ({ reason }: { reason: string }) => (reason === 'timeout' ? 'timeout' : 'refused'),
      ),
      sleepUntil(HANGS_MS, hanging.signal).then(() => 'hang' as const),
    ])
    hanging.abort()
    return verdict
  }

  async function storm(random: () => number, times: number): Promise<void> {
    const below = (most: number) => Math.floor(random() * most)
    await inParallel(times, AT_ONCE, async (index) => {
      const answer = hostileAnswer(below)
      const allowed = allowedOf(answer)
      let verdict = await call(answer, index)
      // On a machine that stood still, a call may have run out of time. Then it is made again; a wrong sender fails again.
      if (verdict === 'timeout' && !allowed.includes(verdict)) verdict = await call(answer, index)
      if (verdict === 'hang') found.hangs++
      else if (!allowed.includes(verdict)) found.wrong.push(`${verdict} for ${describe(answer)}`)
      const kind = typeof verdict === 'number' ? 'a status' : verdict
      found.answers.set(kind, (found.answers.get(kind) ?? 0) + 1)
    })
  }

  try {
    await storm(seeded(1), WARM_UP)
    await receiver.idle()
    const before = usedBytes()
    await storm(seeded(seed), count)
    // Connections that were kept are closed after a few seconds without a request.
    const leaked = await receiver.idle()
    const grownMb = (usedBytes() - before) / 1e6
    await outbound.close()
    const leakedHandles = Math.max(0, handles() - handlesBefore)
    const kinds = [...found.answers].sort().map(([kind, times]) => `${kind} ${times}x`)
    say(
      `seed ${seed}: ${kinds.join(', ')}; ${receiver.connections()} connections; memory in use grew by ${grownMb.toFixed(1)} MB`,
    )
    if (pauses.count() > 0) say(`the machine stood still ${pauses.count()} times, ${pauses.longestMs()} ms at most`)
    for (const finding of found.wrong.slice(0, 20)) say(`WRONG ${finding}`)
    const spare = await postWithSpareAnswers()
    say(
      `${SPARE_POSTS} calls, a third answered twice: ${spare.wrong} wrong, ${spare.failed} without an answer, ${spare.connections} connections`,
    )
    const answered = [...found.answers.values()].reduce((sum, times) => sum + times, 0) - WARM_UP
    return [
      { name: 'hostile-receiver.answers', value: answered, floor: count, is: 'least' },
      { name: 'hostile-receiver.wrong-outcomes', value: found.wrong.length, floor: 0, is: 'most' },
      { name: 'hostile-receiver.spare-answers-taken', value: spare.wrong, floor: 0, is: 'most' },
      { name: 'hostile-receiver.hangs', value: found.hangs, floor: 0, is: 'most' },
      { name: 'hostile-receiver.leaked-sockets', value: leaked + leakedHandles, floor: 0, is: 'most' },
      { name: 'hostile-receiver.memory-mb', value: grownMb, floor: MEMORY_MOST_MB, is: 'most' },
    ]
  } finally {
    pauses.stop()
    await outbound.close()
    receiver.stop()
  }
}

/** Counts how often this process did not run for a while. */
function watchPauses(): { count(): number; longestMs(): number; stop(): void } {
  let count = 0
  let longestMs = 0
  let lastMs = performance.now()
  const timer = setInterval(() => {
    const nowMs = performance.now()
    const pauseMs = Math.round(nowMs - lastMs)
    lastMs = nowMs
    if (pauseMs < PAUSE_MS) return
    count++
    longestMs = Math.max(longestMs, pauseMs)
  }, PAUSE_MS / 10)
  return { count: () => count, longestMs: () => longestMs, stop: () => clearInterval(timer) }
}

async function postWithSpareAnswers() {
  const outbound = createPooledOutbound({ ...SPARE_ANSWERS_OPTIONS, timeoutMs: 60_000 })
  try {
    return await postForSpareAnswers(outbound, SPARE_POSTS)
  } finally {
    await outbound.close()
  }
}

/**
 * Bytes before a reset may be lost on their way. What comes late belongs to an answer that is not whole yet. A success counts with its whole body
 * only, any other status at once.
 */
function allowedOf({ pieces, ending, late, isIntact, isWhole }: HostileAnswer): Verdict[] {
  const status = statusIn(Buffer.concat(late ? [...pieces, late] : pieces))
  if (isIntact && status !== undefined && status < 300 && !isWhole) return ['refused', 'timeout']
  if (isIntact && status !== undefined) return ending === 'reset' ? [status, 'refused'] : [status]
  return status === undefined ? ['refused', 'timeout'] : [status, 'refused', 'timeout']
}

function describe({ pieces, ending, late }: HostileAnswer): string {
  const text = pieces.map((piece) => JSON.stringify(piece.toString('latin1').slice(0, 300))).join(' | ')
  return `${text}, then ${ending}${late ? `, late ${JSON.stringify(late.toString('latin1'))}` : ''}`
}

interface Receiver {
  /** The URL whose next request gets this answer. */
  expect(answer: HostileAnswer): string
  connections(): number
  /** Waits until the sender has closed all connections. Returns how many it did not close. */
  idle(): Promise<number>
  stop(): void
}

async function startReceiver(): Promise<Receiver> {
  const answers = new Map<string, HostileAnswer>()
  const open = new Set<Socket>()
  let next = 0
  let connections = 0
  const server: Server = createServer((socket) => {
    let request = ''
    connections++
    open.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
    socket.on('data', (bytes) => {
      request += bytes.toString('latin1')
      if (!request.endsWith('\r\n\r\n{}')) return
      const path = request.split(' ')[1] ?? ''
      request = ''
      const answer = answers.get(path)
      answers.delete(path)
      if (answer) void say(socket, answer)
    })
  })
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    })
  })
  return {
    expect(answer) {
      const path = `/${next++}`
      answers.set(path, answer)
      return `http://127.0.0.1:${port}${path}`
    },
    connections: () => connections,
    async idle() {
      await eventually(() => open.size === 0, 'all connections are closed').catch(() => {})
      return open.size
    },
    stop() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}

async function say(socket: Socket, { pieces, ending, late }: HostileAnswer): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await new Promise((resolve) => setImmediate(resolve))
    if (!socket.writable) return
    socket.write(piece)
  }
  if (ending === 'close') socket.end()
  else if (ending === 'reset') socket.resetAndDestroy()
  if (!late) return
  await sleep(LATE_MS)
  if (socket.writable) socket.write(late)
}

const handles = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCPSocket')).length

/** What is in use after a collection, buffers included. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let times = 0; times < 3; times++) collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function sleepUntil(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => clearTimeout(timer))
  })
}
