/** For route-cost: the processor time that API, key holder and PostgreSQL need for each call, by the operation that the call belongs to. */
import { OPERATIONS } from '@ostiary/contract'
import { backendsOf, processorMsOf } from '@ostiary/testkit/measuring/backend-time'
import pg from 'pg'
import type { Scene } from './token-scene.ts'

export interface Seen {
  ms: number
  status: number
  /** The name of the rate, where the answer names one. */
  rate: string | undefined
}

const PATTERNS = OPERATIONS.map(({ operationId, method, path }) => {
  const pattern = path.replace(/[.*]/g, '\\$&').replace(/:[a-zA-Z]+/g, '[^/]+')
  return { operationId, method, pattern: new RegExp(`^${pattern}$`), isExact: !path.includes(':') }
}).toSorted((a, b) => Number(b.isExact) - Number(a.isExact))

const nameOf = (method: string, path: string) =>
  PATTERNS.find((each) => each.method === method && each.pattern.test(path))?.operationId

/** While it watches, calls of `fetch` to the API run one at a time. */
export async function watchCalls({ api, keyHolder, databaseUrl }: Scene) {
  const seen = new Map<string, Seen[]>()
  const client = new pg.Client(databaseUrl)
  await client.connect()
  const databases = [databaseUrl, keyHolder.databaseUrl].map((url) => new URL(url).pathname.slice(1))
  const plain = globalThis.fetch
  let last: Promise<unknown> = Promise.resolve()

  async function measured(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const url = new URL(input instanceof Request ? input.url : input)
    const operation = nameOf(init?.method ?? 'GET', url.pathname)
    if (operation === undefined || ![api.url, api.adminUrl].includes(url.origin)) return plain(input, init)
    const backends = await Promise.all(databases.map((database) => backendsOf(client, database)))
    const used = () => processorMsOf([api.pid, keyHolder.pid(), ...backends.flat()])
    const before = used()
    const answer = await plain(input, init)
    // A stream has no end; its first event is enough.
    const body = answer.headers.get('content-type')?.startsWith('text/event-stream')
      ? answer.body
      : await answer.arrayBuffer()
    const rate = /^"([^"]+)"/.exec(answer.headers.get('ratelimit-policy') ?? '')?.[1]
    seen.set(operation, [...(seen.get(operation) ?? []), { ms: used() - before, status: answer.status, rate }])
    const { status, headers } = answer
    return new Response(status === 204 ? null : body, { status, headers })
  }

  globalThis.fetch = (input, init) => {
    const mine = last.then(() => measured(input, init))
    last = mine.catch(() => {})
    return mine
  }
  return {
    seen,
    async stop() {
      globalThis.fetch = plain
      await client.end()
    },
  }
}
