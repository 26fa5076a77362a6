/** The attacking side of `fair-shares`, in a thread of its own: what it computes must not delay what the drill measures. */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

export interface Attacker {
  url: string
  key: string
  dataset: string
  /** A key with the usual rates, and two of its runs with as many hits as a run may have. */
  limitedKey: string
  runs: readonly [string, string]
}

export type AttackName = 'tiny-parts' | 'crafted-rows' | 'equal-creates' | 'addresses' | 'lists' | 'comparisons'

/** To the thread: which attack to begin, or null to hang up. From it: the statuses of the answers, once it has hung up. */
export type ToAttacker = { begin: AttackName } | { end: true }
export type FromAttacker = { ended: Record<string, number> }

const MULTIPART_BYTES = 2_400_000
const TINY_PARTS = Buffer.from(`--b${'\r\n--b'.repeat(MULTIPART_BYTES / 5)}`)
/** Cut off after its last part, which ended the process when nobody listened for too many parts. */
const CUT_OFF = Buffer.from('--b\r\n\r\n\r\n'.repeat(30))
const FORM = { 'content-type': 'multipart/form-data; boundary=b' }
const CRAFTED_ROWS = csvForm('1,ali mohammad maria muhammad kim david michael james ahmad,ibrahim,\n'.repeat(5_000))

const { url, key, dataset, limitedKey, runs } = workerData as Attacker
let statuses: Record<string, number> = {}
let addresses = 0

/** A /48 of its own for every call, as the owner of a /32 has them: the limits of networks stop none of the calls. */
function nextAddress(): Record<string, string> {
  const n = addresses++
  return { 'x-forwarded-for': `2001:${(0xdb8 + (n >>> 16)).toString(16)}:${(n & 0xffff).toString(16)}::1` }
}

interface Call {
  method?: 'GET'
  path: string
  headers: Record<string, string>
  body?: Buffer
  /** None: a connection for each call. */
  agent?: Agent
}
const agent = new Agent({ keepAlive: true })

function send({ method, path, headers, body = Buffer.of(), agent }: Call, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const sent = request(
      `${url}${path}`,
      {
        method: method ?? 'POST',
        agent: agent ?? false,
        signal,
        headers: { ...headers, 'content-length': body.length },
      },
      (answer) => {
        const status = String(answer.statusCode)
        statuses[status] = (statuses[status] ?? 0) + 1
        answer.resume()
        answer.on('close', resolve)
      },
    )
    // The service cuts off what it refuses, and the end of an attack cuts off the rest.
    sent.on('error', () => resolve())
    sent.end(body)
  })
}

const screening = '/v2/open-sanctions/file'
const withKey = { 'x-api-key': key }

/** How many callers repeat each call at once, and how long each waits in between. */
const ATTACKS: Record<AttackName, { callers: number; pauseMs: number; call: (n: number) => Call }> = {
  'tiny-parts': {
    // Some 90 MB a second: with more, the kernel's copying on two processors is what is measured.
    callers: 4,
    pauseMs: 100,
    call: (n) => ({
      path: `${screening}/demo`,
      headers: { ...FORM, ...nextAddress() },
      body: n % 4 === 0 ? CUT_OFF : TINY_PARTS,
    }),
  },
  'crafted-rows': {
    callers: 2,
    pauseMs: 50,
    call: () => ({
      path: `${screening}/${dataset}?scoreThreshold=0.01`,
      headers: { ...FORM, ...withKey },
      body: CRAFTED_ROWS,
    }),
  },
  'equal-creates': {
    callers: 60,
    pauseMs: 0,
    call: () => ({
      path: '/strings',
      headers: { ...withKey, 'content-type': 'application/json', 'idempotency-key': 'the only one' },
      body: Buffer.from('{"value":"x"}'),
    }),
  },
  // At ten times what the key is allowed: most are refused.
  lists: {
    callers: 5,
    pauseMs: 100,
    call: () => ({ method: 'GET', path: '/sessions?limit=200', headers: { 'x-api-key': limitedKey }, agent }),
  },
  // The same.
  comparisons: {
    callers: 12,
    pauseMs: 50,
    call: () => ({
      method: 'GET',
      path: `/v2/open-sanctions/runs/${runs[1]}/hits?since=${runs[0]}`,
      headers: { 'x-api-key': limitedKey },
      agent,
    }),
  },
  addresses: {
    // Over a thousand a second, more than it takes to keep a table full.
    callers: 3,
    pauseMs: 1,
    call: () => ({ path: `${screening}/demo`, headers: nextAddress(), agent }),
  },
}

function csvForm(rows: string): Buffer {
  const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
  return Buffer.from(`${head}id,firstname,lastname,dob\n${rows}\r\n--b--\r\n`)
}

let hangUp = new AbortController()
let callers: Promise<unknown> = Promise.resolve()
parentPort?.on('message', (message: ToAttacker) => {
  if ('begin' in message) {
    const { callers: count, pauseMs, call } = ATTACKS[message.begin]
    hangUp = new AbortController()
    statuses = {}
    const { signal } = hangUp
    callers = Promise.all(
      Array.from({ length: count }, async () => {
        for (let n = 0; !signal.aborted; n++) {
          await send(call(n), signal)
          await sleep(pauseMs)
        }
      }),
    )
  } else {
    hangUp.abort()
    void callers.then(() => parentPort?.postMessage({ ended: statuses } satisfies FromAttacker))
  }
})
