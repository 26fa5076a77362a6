import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** One request as it left the browser. */
export interface Recorded {
  method: string
  origin: string
  /** With its query. */
  path: string
  contentType: string | undefined
  userAgent: string
  body: Buffer
  /** Undefined until the answer begins; it stays undefined if the connection was cut. */
  status: number | undefined
  /** Bytes of the answer's body as transferred, so far. */
  bytesIn: number
  /** The answer of a device API call, as far as it has arrived. */
  answer: string
}

/** `before`: the service never gets the request. `after`: it does, and its answer is lost. */
export type Cut = 'before' | 'after' | undefined

/**
 * The only way out of a test browser: requests of the page, its workers, the service worker and the browser itself all pass
 * through this proxy. It forwards plain http to this machine. It records and refuses everything else.
 */
export interface RecordingProxy {
  url: string
  requests: Recorded[]
  /** Decides which connections break. Default: none. */
  cut: (request: Recorded) => Cut
  /** Delays requests, for a slow connection. Default: none. */
  hold: (request: Recorded) => Promise<void> | undefined
  stop(): Promise<void>
}

export async function startProxy(): Promise<RecordingProxy> {
  const agent = new Agent({ keepAlive: true })
  const server = createServer((request, response) => void pass(proxy, agent, request, response))
  // A browser uses CONNECT for https. No test needs it.
  server.on('connect', (request, socket) => {
    const origin = `https://${request.url ?? ''}`
    proxy.requests.push({
      ...described(request),
      origin,
      path: '',
      body: Buffer.alloc(0),
      status: undefined,
      bytesIn: 0,
      answer: '',
    })
    socket.end('HTTP/1.1 502 Refused\r\n\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const proxy: RecordingProxy = {
    url: `http://127.0.0.1:${port}`,
    requests: [],
    cut: () => undefined,
    hold: () => undefined,
    async stop() {
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return proxy
}

const LOOPBACK = new Set(['localhost', '127.0.0.1'])

async function pass(proxy: RecordingProxy, agent: Agent, request: IncomingMessage, response: ServerResponse) {
  const target = new URL(request.url ?? '')
  const recorded: Recorded = {
    ...described(request),
    origin: target.origin,
    path: `${target.pathname}${target.search}`,
    body: Buffer.alloc(0),
    status: undefined,
    bytesIn: 0,
    answer: '',
  }
  // Record the request before it is answered, so that the record has every request that the page knows of.
  proxy.requests.push(recorded)
  try {
    recorded.body = await buffer(request)
  } catch {
    return // The browser has gone.
  }
  await proxy.hold(recorded)
  const cut = proxy.cut(recorded)
  if (cut === 'before') return void response.destroy()
  if (!LOOPBACK.has(target.hostname)) return void response.writeHead(502).end()
  const { 'proxy-connection': _mine, ...headers } = request.headers
  const onward = send(
    { host: '127.0.0.1', port: target.port || 80, method: request.method, path: recorded.path, headers, agent },
    (answer) => {
      if (cut === 'after') {
        answer.resume()
        return void response.destroy()
      }
      recorded.status = answer.statusCode
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.on('data', (part: Buffer) => {
        recorded.bytesIn += part.length
        if (recorded.path.startsWith('/launch/api/')) recorded.answer += part.toString('latin1')
      })
      answer.pipe(response)
      response.once('close', () => answer.destroy())
    },
  )
  onward.once('error', () => response.destroy())
  onward.end(recorded.body)
}

function described({ method = '', headers }: IncomingMessage) {
  return { method, contentType: headers['content-type'], userAgent: headers['user-agent'] ?? '' }
}
