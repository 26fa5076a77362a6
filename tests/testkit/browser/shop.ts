import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { eventually } from './system.ts'

export interface Delivered {
  headers: IncomingHttpHeaders
  body: Buffer
}

/** A customer's site on this machine: it receives webhooks, and users return to it. */
export interface Shop {
  hookUrl: string
  /** With a parameter of the customer's own. */
  backUrl: string
  nextWebhook(): Promise<Delivered>
  /** The next webhook with this text in its body. Others stay for later calls. */
  webhookWith(text: string): Promise<Delivered>
  stop(): void
}

export async function startShop(): Promise<Shop> {
  const arrived: Delivered[] = []
  const known = new Map<unknown, Buffer>()
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      const delivered = { headers: request.headers, body: await buffer(request) }
      // A repeated delivery, whose first answer came too late, has the same id and bytes. Anything else is a new webhook.
      const id = request.headers['webhook-id']
      if (known.get(id)?.equals(delivered.body) !== true) arrived.push(delivered)
      known.set(id, delivered.body)
      response.writeHead(204).end()
      return
    }
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>The shop</title><p>Back.')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    hookUrl: `http://127.0.0.1:${port}/hook`,
    backUrl: `http://localhost:${port}/back?state=K7`,
    nextWebhook: () => eventually('a webhook arrives', () => arrived.shift()),
    webhookWith: (text) =>
      eventually(`a webhook with ${text} arrives`, () => {
        const index = arrived.findIndex(({ body }) => body.includes(text))
        return index < 0 ? undefined : arrived.splice(index, 1)[0]
      }),
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
