/** The child process of receivers.ts: listens, records, and behaves as the parent asks. */
import { hash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createNetServer, type Server as NetServer } from 'node:net'
import { signStandardWebhook, standardWebhookSecret, verifyWebhook } from '@ostiary/crypto'
import type { Answer, Arrival, Behaviour, Order } from './receivers.ts'

const LATE_MS = 11_000

interface Receiver {
  number: number
  key: string
  secret: string
  server: Server
  port: number
  behaviour: Behaviour
  requests: number
}

const receivers: Receiver[] = []
let arrivals: Promise<Arrival>[] = []
let arrived = 0
let open = 0

async function openReceiver(key: string, number: number): Promise<number> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    receive(receiver, request, response).catch(() => request.socket.destroy())
  })
  const port = await listen(server, 0)
  const secret = await standardWebhookSecret(key)
  const receiver: Receiver = { number, key, secret, server, port, behaviour: 'ok', requests: 0 }
  receivers[number] = receiver
  return port
}

async function receive(receiver: Receiver, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const atMs = Date.now()
  arrived++
  open++
  response.once('close', () => open--)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  const behaviour = receiver.behaviour === 'mixed' ? nextOfMixed(receiver) : receiver.behaviour
  arrivals.push(record(receiver, request, { atMs, body, accepted: behaviour === 'ok' }))
  answer(behaviour, response)
}

const MIXED = ['error', 'reset', 'ok'] as const

function nextOfMixed(receiver: Receiver): Behaviour {
  return MIXED[receiver.requests++ % MIXED.length] ?? 'ok'
}

async function record(
  { number, key, secret }: Receiver,
  { headers }: IncomingMessage,
  { atMs, body, accepted }: { atMs: number; body: Buffer; accepted: boolean },
): Promise<Arrival> {
  const text = (name: string) => String(headers[name] ?? '')
  const deliveryId = text('x-service-delivery')
  const standard = await signStandardWebhook(secret, { id: deliveryId, timestamp: text('webhook-timestamp'), body })
  const isSigned = await verifyWebhook({
    apiKey: key,
    timestamp: text('x-service-timestamp'),
    signature: text('x-service-signature'),
    body,
    nowSeconds: atMs / 1000,
  })
  const { sessionId } = JSON.parse(body.toString()) as { sessionId: string }
  return {
    receiver: number,
    atMs,
    deliveryId,
    sessionId,
    attempt: Number(text('x-service-attempt')),
    bodyHash: hash('sha256', body),
    genuine: isSigned && text('webhook-signature') === standard && text('webhook-id') === deliveryId,
    accepted,
  }
}

function answer(behaviour: Behaviour, response: ServerResponse): void {
  const accept = () => response.writeHead(200, { 'content-length': '2' }).end('{}')
  switch (behaviour) {
    case 'ok':
      accept()
      return
    case 'late':
      setTimeout(accept, LATE_MS)
      return
    case 'error':
      response.writeHead(500, { 'content-length': '0' }).end()
      return
    case 'half':
      response.socket?.write('HTTP/1.1 200 OK\r\ncontent-le')
      return
    case 'reset':
    case 'dead':
      response.socket?.resetAndDestroy()
      return
    case 'hang':
    case 'mixed':
      return
  }
}

async function behave(receiver: Receiver, behaviour: Behaviour): Promise<void> {
  const wasDead = receiver.behaviour === 'dead'
  receiver.behaviour = behaviour
  if (behaviour === 'dead' && !wasDead) {
    const closed = new Promise((resolve) => receiver.server.close(resolve))
    receiver.server.closeAllConnections()
    await closed
  } else if (wasDead && behaviour !== 'dead') await listen(receiver.server, receiver.port)
}

const FAST_ANSWER = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')

/** Reads only the length, so that the receiver is never the bottleneck. */
function openFast(): Promise<number> {
  const server = createNetServer((socket) => {
    let missing = 0
    let head = ''
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk) => {
      if (missing === 0) {
        head += chunk.toString('latin1')
        const headEnd = head.indexOf('\r\n\r\n')
        if (headEnd < 0) return
        missing = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) - (head.length - headEnd - 4)
        head = ''
      } else missing -= chunk.length
      if (missing > 0) return
      arrived++
      socket.write(FAST_ANSWER)
    })
  })
  return listen(server, 0)
}

function listen(server: Server | NetServer, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    })
  })
}

async function obey(order: Order): Promise<Omit<Answer, 'n'>> {
  switch (order.do) {
    case 'open':
      return { ports: await Promise.all(order.keys.map(openReceiver)) }
    case 'open-fast':
      return { ports: await Promise.all(Array.from({ length: order.count }, openFast)) }
    case 'behave': {
      const receiver = receivers[order.receiver]
      if (receiver) await behave(receiver, order.behaviour)
      return {}
    }
    case 'take': {
      const taken = arrivals
      arrivals = []
      return { arrivals: await Promise.all(taken) }
    }
    case 'count':
      return { arrived, open }
  }
}

process.on('message', (order: Order) => {
  obey(order).then((found) => process.send?.({ n: order.n, ...found }))
})
process.once('disconnect', () => process.exit(0))
