/** A receiver of webhooks on this machine. Only tests import this. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface Received {
  method: string
  url: string
  headers: IncomingHttpHeaders
  rawHeaders: string[]
  body: Buffer
}

export type Answer = (response: ServerResponse, received: Received, request: IncomingMessage) => void

export interface Receiver {
  origin: string
  url: string
  received: Received[]
  /** Sets the answer to the next requests; 200 by default. */
  answer(how: Answer): void
  connections(): number
  close(): Promise<void>
}

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end('read and forgotten')

export async function createReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const sockets = new Set<Socket>()
  let answer: Answer = status(200)
  let connections = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = request
      const one = { method, url, headers, rawHeaders, body: Buffer.concat(chunks) }
      received.push(one)
      answer(response, one, request)
    })
    request.on('error', () => {})
  })
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    url: `${origin}/hook?of=host`,
    received,
    answer(how) {
      answer = how
    },
    connections: () => connections,
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
