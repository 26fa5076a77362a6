/**
 * Strangers open 200 connections to the key holder, send 1.9 of 2 MB on each, and stop. With the hash of a body their signature is refused
 * before the body is read; without it, as the last release calls, sixteen bodies are read at once. Memory is a promise that no load of the machine
 * breaks, so it is strict.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { KEY_HOLDER_PATHS } from '@ostiary/contract'
import {
  BODY_HASH_HEADER,
  bodyHash,
  readServiceKey,
  SERVICE_SIGNATURE_HEADER,
  signServiceRequest,
} from '@ostiary/crypto'
import { createCaller, newSeed, sendTo } from '@ostiary/key-holder/testing'
import { startKeyHolder } from '@ostiary/testkit/key-holder'
import { type Figure, type Measure, median } from '@ostiary/testkit/measuring/figure'
import { sleep } from '@ostiary/testkit/run'

const SOCKETS = 200
const BODY = Buffer.alloc(2_000_000)
const SENT = BODY.subarray(0, 1_900_000)
const MEMORY_MOST_MB = 50
const CALL_MOST_MS = 500
const WATCH_MS = 8_000

export const measure: Measure = async ({ say }) => {
  const keyHolder = await startKeyHolder({ logName: 'drill-key-holder-flood' })
  try {
    const seed = Buffer.from(keyHolder.matcherSeed, 'base64url')
    const caller = await createCaller({ send: sendTo(keyHolder.url), seed, published: keyHolder.published })
    const call = async () => {
      const started = performance.now()
      await caller.nonceFor({ realm: 'R'.repeat(22), tokenId: 'T'.repeat(22) })
      return performance.now() - started
    }
    // Code is compiled, and the heap has its usual size.
    for (const socket of await openStopped(new URL(keyHolder.url), true)) socket.destroy()
    for (let n = 0; n < 200; n++) await call()
    const figures: Figure[] = []
    for (const kind of ['with-hash', 'without-hash'] as const) {
      const before = residentMb(keyHolder.pid())
      const quiet = await callsFor(call, 1_000)
      const sockets = await openStopped(new URL(keyHolder.url), kind === 'with-hash')
      let most = 0
      const calls = await callsFor(call, WATCH_MS, () => {
        most = Math.max(most, residentMb(keyHolder.pid()) - before)
      })
      for (const socket of sockets) socket.destroy()
      const slowest = Math.max(...calls)
      const times = `${median(quiet).toFixed(0)} ms before, ${median(calls).toFixed(0)} beside, ${slowest.toFixed(0)} at most`
      say(`${kind}: ${most.toFixed(0)} MB more than the ${before.toFixed(0)} before; a genuine call ${times}`)
      figures.push(
        { name: `key-holder-flood.${kind}.megabytes`, value: most, floor: MEMORY_MOST_MB, is: 'most' },
        { name: `key-holder-flood.${kind}.call-ms`, value: slowest, floor: CALL_MOST_MS, is: 'most', load: true },
      )
    }
    return figures
  } finally {
    await keyHolder.remove()
  }
}

async function callsFor(call: () => Promise<number>, ms: number, look = () => {}): Promise<number[]> {
  const took: number[] = []
  for (const until = performance.now() + ms; performance.now() < until; await sleep(100)) {
    took.push(await call())
    look()
  }
  return took
}

/** Each is signed by a key that the key holder does not know. */
async function openStopped(url: URL, hasHash: boolean): Promise<Socket[]> {
  const path = KEY_HOLDER_PATHS.evaluations
  const { privateKey } = await readServiceKey(newSeed())
  const hash = await bodyHash(BODY)
  return Promise.all(
    Array.from({ length: SOCKETS }, async (_, n) => {
      const requestId = String(n).padStart(22, '0')
      const signed = { requestId, timeMs: Date.now() }
      const signature = await signServiceRequest(privateKey, { method: 'POST', path, body: BODY }, signed)
      const socket = connect(Number(url.port), url.hostname).on('error', () => {})
      await once(socket, 'connect')
      const headers = [
        `content-length: ${BODY.length}`,
        `${SERVICE_SIGNATURE_HEADER}: ${signature}`,
        ...(hasHash ? [`${BODY_HASH_HEADER}: ${hash}`] : []),
      ]
      socket.write(`POST ${path} HTTP/1.1\r\nhost: k\r\n${headers.join('\r\n')}\r\n\r\n`)
      socket.write(SENT)
      return socket.resume()
    }),
  )
}

function residentMb(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}
