import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What clients are tested against: the first part of a path names a fault, and the server keeps count. */
export interface FaultyServer {
  url: string
  /** Sessions made at `/transient`, by idempotency key. */
  sessions: ReadonlyMap<string, string>
  /** Requests of each fault, in order of arrival. */
  requests: ReadonlyMap<string, readonly Received[]>
  close(): Promise<void>
}

export interface Received {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
}

interface Exchange extends Received {
  /** Requests of this fault before this one. */
  before: number
  answer(status: number, body?: unknown, headers?: Record<string, string>): void
  /** The connection breaks without an answer. */
  reset(): void
}

/** Failures that a repeat gets over. `lost`: the session is made, and its answer never arrives. */
const TRANSIENT = [408, 429, 500, 502, 503, 504, 'lost'] as const
const CREATED = {
  token: 'at_1',
  launchUrl: 'https://x.example/',
  expiresAt: '2026-01-01T00:00:00.000Z',
  livemode: false,
}

export async function startFaultyServer(): Promise<FaultyServer> {
  const sessions = new Map<string, string>()
  const requests = new Map<string, Received[]>()
  const faults = faultTable(sessions)
  const server = createServer(async (request, response) => {
    const [, fault = '', ...rest] = (request.url ?? '').split('/')
    const received = {
      method: request.method ?? '',
      path: `/${rest.join('/')}`,
      headers: request.headers,
      body: await text(request),
    }
    const earlier = requests.get(fault) ?? []
    requests.set(fault, [...earlier, received])
    faults[fault]?.({ ...received, before: earlier.length, ...replies(response) })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sessions,
    requests,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

function replies(response: ServerResponse) {
  return {
    answer(status: number, body?: unknown, headers: Record<string, string> = {}) {
      const isText = typeof body === 'string'
      response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers })
      response.end(body === undefined ? undefined : isText ? body : JSON.stringify(body))
    },
    reset: () => void response.socket?.resetAndDestroy(),
  }
}

function faultTable(sessions: Map<string, string>): Record<string, (exchange: Exchange) => void> {
  const lostPaths = new Set<string>()
  return {
    transient({ headers, before, answer, reset }) {
      const key = String(headers['idempotency-key'])
      const failing = before % 2 === 0 ? TRANSIENT[before / 2] : undefined
      if (failing !== undefined && failing !== 'lost')
        return answer(failing, { message: 'Not now', code: 'UNAVAILABLE' })
      if (!sessions.has(key)) sessions.set(key, `session-${sessions.size + 1}`)
      if (failing === 'lost') return reset()
      answer(201, { ...CREATED, sessionId: sessions.get(key) })
    },
    refused: ({ answer }) =>
      answer(400, {
        statusCode: 400,
        message: 'Wrong',
        code: 'VALIDATION_FAILED',
        requestId: 'req-1',
        details: [{ path: '/ageThreshold' }],
      }),
    proxy: ({ answer }) =>
      answer(404, { message: { text: 'Gone' }, error: { code: 7 }, details: 'none', retryAfter: 'soon' }),
    down: ({ answer }) => answer(503, '<h1>Bad gateway</h1>'),
    busy: ({ answer }) => answer(429, { message: 'Too many', code: 'RATE_LIMITED' }, { 'retry-after': '3600' }),
    slow: () => {},
    page: ({ answer }) => answer(200, '<h1>Welcome</h1>'),
    moved: ({ answer }) => answer(307, {}, { location: '/stolen/session' }),
    'lost-clock': ({ reset }) => reset(),
    warned: ({ answer }) =>
      answer(
        201,
        { ...CREATED, sessionId: 's-1' },
        { 'x-config-warning': 'estimate-without-buffer, ignored-field: livenessEnabled' },
      ),
    lost({ path, answer, reset }) {
      // The first call to each path works and its answer is lost: the repeat finds the work done.
      const isFirst = !path.endsWith('/result') && !lostPaths.has(path)
      lostPaths.add(path)
      if (isFirst) return reset()
      if (path.endsWith('/cancel')) return answer(409, { code: 'SESSION_NOT_OPEN', message: 'It has ended' })
      if (path.endsWith('/result')) return answer(200, { outcome: 'CANCELLED' })
      if (path.endsWith('/deleteUser')) return answer(400, { status: 400, message: 'delete failed' })
      answer(404, { code: 'NOT_FOUND', message: 'Session not found' })
    },
    credentials({ path, headers, before, answer }) {
      if (path === '/oauth/token') return answer(200, { access_token: `token-${before}`, expires_in: 600 })
      // The first token ends early.
      if (headers.authorization === 'Bearer token-0') return answer(401, { code: 'INVALID_CLIENT_CREDENTIALS' })
      answer(200, { sessionId: `${headers.authorization} ${path.split('/').at(-1)}` })
    },
    // No fault: the test reads what was asked.
    people: ({ answer }) => answer(200, { status: 200, locked: false, items: [], nextCursor: null }),
    events({ path, answer, reset, before }) {
      if (before === 1) return reset()
      const cursor = new URL(path, 'http://x.example').searchParams.get('cursor')
      const items = { start: ['e-1', 'e-2'], 'after-2': [] }[String(cursor)] ?? ['e-3']
      answer(200, { items: items.map((id) => ({ id })), cursor: cursor === 'start' ? 'after-2' : 'after-quiet' })
    },
    pages({ path, answer }) {
      const isSecond = new URL(path, 'http://x.example').searchParams.get('cursor') === 'c+/=2'
      answer(200, { items: [{ sessionId: isSecond ? 's-2' : 's-1' }], nextCursor: isSecond ? null : 'c+/=2' })
    },
  }
}
