/** Servers that the tests of outbound calls use, and assertions about their answers. Only tests import this. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { createOutbound, OutboundError, type OutboundOptions, type OutboundReason } from '../index.ts'

const servers: { server: Server; sockets: Set<Socket> }[] = []

export function closeServers(): void {
  for (const { server, sockets } of servers.splice(0)) {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
}

interface Started {
  port: number
  /** Connections that were ever made to it. */
  connections(): number
  /** Connections that are open. */
  open(): number
  /** Stops listening on the port. */
  close(): void
}

export async function listen(server: Server, host = '127.0.0.1'): Promise<Started> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, host)
  await once(server, 'listening')
  servers.push({ server, sockets })
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    open: () => sockets.size,
    close: () => void server.close(),
  }
}

export const serve = (answer: RequestListener, host?: string) => listen(createHttpServer(answer), host)

export function outbound(options: Partial<OutboundOptions> = {}) {
  return createOutbound({ version: '9.9.9', allowNetworks: ['127.0.0.1/32', '::1/128'], allowHttp: true, ...options })
}

export const LIMITS = { timeoutMs: 5_000, maxBytes: 1_000_000 }
export const get = (url: string) => ({ ...LIMITS, method: 'GET', url }) as const

export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function failure(work: Promise<unknown>): Promise<OutboundError> {
  const error = await work.then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof OutboundError, String(error))
  assert.equal(error.cause, undefined)
  return error
}

export async function failsWith(reason: OutboundReason, work: Promise<unknown>): Promise<OutboundError> {
  const error = await failure(work)
  assert.equal(error.reason, reason, `${error.reason} ${error.code}`)
  return error
}

export const SECRET = 'what the other side sent'

/** The body that a process with a given environment gets, or the reason why it gets none. */
export async function inChild(
  url: string,
  { env = {}, flags = [], ca }: { env?: Record<string, string>; flags?: readonly string[]; ca?: string },
): Promise<string> {
  const options = { version: '1', allowNetworks: ['127.0.0.1'], allowHttp: true, ca }
  const script = `
    import { createOutbound } from ${JSON.stringify(new URL('../index.ts', import.meta.url).href)}
    const asked = { method: 'GET', url: ${JSON.stringify(url)}, timeoutMs: 60000, maxBytes: 100 }
    try {
      const { body } = await createOutbound(${JSON.stringify(options)}).request(asked)
      for await (const chunk of body) process.stdout.write(chunk)
    } catch (error) {
      process.stdout.write(error.reason)
    }`
  const child = spawn(process.execPath, [...flags, '--input-type=module', '-e', script], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return textOf(child.stdout)
}
