import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface LinkSpeed {
  /** Of everything that comes to the browser, over all its connections together. */
  bitsPerSecond: number
  /** There and back. A new connection takes one more. */
  latencyMs: number
}

/** A slow line between a browser and its proxy, on this machine. What the browser sends is delayed but not slowed down: it is little. */
export interface SlowLink {
  url: string
  /** Bytes that have come to the browser so far, with headers. */
  bytesIn(): number
  stop(): Promise<void>
}

interface Line {
  browser: Socket
  service: Socket
  waiting: Buffer[]
  waitingBytes: number
  /** The service has sent all it has to send. */
  isEnded: boolean
  close(): void
}

const TICK_MS = 10
const PACKET_BYTES = 1_460
/** So much of each connection waits in the line; then the service has to wait. */
const WAITING_BYTES_MAX = 32_000
/** After a stall of this machine the line does not catch up with more than this. */
const STALL_MS_MAX = 100

export async function startSlowLink(proxyUrl: string, { bitsPerSecond, latencyMs }: LinkSpeed): Promise<SlowLink> {
  const { hostname, port } = new URL(proxyUrl)
  const lines: Line[] = []
  let bytesIn = 0

  const server = createServer((browser) => {
    const service = connect(Number(port), hostname)
    const close = () => {
      browser.destroy()
      service.destroy()
      const index = lines.indexOf(line)
      if (index >= 0) lines.splice(index, 1)
    }
    const line: Line = { browser, service, waiting: [], waitingBytes: 0, isEnded: false, close }
    const openedMs = performance.now()
    lines.push(line)
    browser.on('data', (bytes) => {
      const connectMs = Math.max(0, openedMs + latencyMs - performance.now())
      later(connectMs + latencyMs / 2, () => service.write(bytes))
    })
    service.on('data', (bytes) => {
      line.waiting.push(bytes)
      line.waitingBytes += bytes.length
      if (line.waitingBytes > WAITING_BYTES_MAX) service.pause()
    })
    browser.on('error', close).on('close', close)
    service.on('error', close).on('end', () => {
      line.isEnded = true
      endIfEmpty(line)
    })
  })

  /** Packets of all connections in turns, as many as the rate allows. */
  let credit = 0
  let lastMs = performance.now()
  const ticking = setInterval(() => {
    const nowMs = performance.now()
    credit += (Math.min(nowMs - lastMs, STALL_MS_MAX) * bitsPerSecond) / 8_000
    lastMs = nowMs
    for (;;) {
      const line = lines.find(({ waiting }) => waiting.length > 0)
      if (!line) credit = Math.min(credit, PACKET_BYTES)
      if (!line || credit < PACKET_BYTES) return
      credit -= sendPacket(line)
      // Its next packet comes after those of the others.
      lines.push(...lines.splice(lines.indexOf(line), 1))
    }
  }, TICK_MS)

  function sendPacket(line: Line): number {
    const [first = Buffer.alloc(0)] = line.waiting
    const packet = first.subarray(0, PACKET_BYTES)
    const left = first.subarray(PACKET_BYTES)
    if (left.length > 0) line.waiting[0] = left
    else line.waiting.shift()
    line.waitingBytes -= packet.length
    if (line.waitingBytes <= WAITING_BYTES_MAX) line.service.resume()
    endIfEmpty(line)
    later(latencyMs / 2, () => {
      bytesIn += packet.length
      line.browser.write(packet)
    })
    return packet.length
  }

  /** A service that closes an idle connection may still have bytes on the line. */
  function endIfEmpty({ isEnded, waiting, close }: Line): void {
    if (isEnded && waiting.length === 0) later(latencyMs, close)
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The link has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    bytesIn: () => bytesIn,
    async stop() {
      clearInterval(ticking)
      for (const { browser, service } of [...lines]) {
        browser.destroy()
        service.destroy()
      }
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Timers of the same delay fire in their order, so bytes stay in theirs. */
function later(ms: number, work: () => void): void {
  setTimeout(work, ms)
}
