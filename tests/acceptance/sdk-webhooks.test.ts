/** The handlers of `@ostiary/sdk/webhooks` in the real frameworks, over HTTP on loopback, with real signatures. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { serve } from '@hono/node-server'
import { FIXTURE_API_KEY, FIXTURE_EVENTS, webhookFixture } from '@ostiary/sdk/fixtures'
import {
  expressWebhook,
  fastifyWebhook,
  type HandlerOptions,
  honoWebhook,
  type ReceivedEvent,
  webhookHandler,
} from '@ostiary/sdk/webhooks'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'

interface Host {
  url: string
  close(): unknown
}

const PATH = '/hooks/ostiary'
const hosts: Host[] = []
after(() => Promise.all(hosts.map((host) => host.close())))

async function listening(server: Server): Promise<Host> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}${PATH}`, close: () => server.close() }
}

const FRAMEWORKS: Record<string, (options: HandlerOptions) => Promise<Host>> = {
  'Express 5': async (options) => {
    const app = express()
    app.post(PATH, expressWebhook(options))
    app.use(express.json())
    return listening(createServer(app))
  },
  'Express 5 with express.raw': async (options) => {
    const app = express()
    app.post(PATH, express.raw({ type: 'application/json' }), expressWebhook(options))
    return listening(createServer(app))
  },
  'node:http': (options) => {
    const handler = expressWebhook(options)
    return listening(createServer((request, response) => void handler(request, response)))
  },
  Fastify: async (options) => {
    const app = fastify()
    app.register(fastifyWebhook({ path: PATH, ...options }))
    app.post('/other', async ({ body }) => body)
    return { url: `${await app.listen({ host: '127.0.0.1', port: 0 })}${PATH}`, close: () => app.close() }
  },
  Hono: async (options) => {
    const app = new Hono()
    app.post(PATH, honoWebhook(options))
    const { promise, resolve } = Promise.withResolvers<number>()
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port))
    return { url: `http://127.0.0.1:${await promise}${PATH}`, close: () => server.close() }
  },
  'a web Request, as in Next.js': async (options) => {
    const app = new Hono()
    const POST = webhookHandler(options)
    app.post(PATH, ({ req }) => POST(req.raw))
    const { promise, resolve } = Promise.withResolvers<number>()
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port))
    return { url: `http://127.0.0.1:${await promise}${PATH}`, close: () => server.close() }
  },
}

async function started(name: string, more: Partial<HandlerOptions> = {}) {
  const events: ReceivedEvent[] = []
  const lines: string[] = []
  const start = FRAMEWORKS[name]
  assert.ok(start)
  const host = await start({
    apiKeys: [FIXTURE_API_KEY],
    onEvent: (event) => void events.push(event),
    logger: { warn: (line) => void lines.push(line) },
    ...more,
  })
  hosts.push(host)
  const post = async (headers: Record<string, string>, body: string) => {
    const response = await fetch(host.url, { method: 'POST', headers, body })
    return { status: response.status, text: await response.text() }
  }
  return { events, lines, post, url: host.url }
}

for (const name of Object.keys(FRAMEWORKS)) {
  describe(name, () => {
    test('receives every event and answers 204', async () => {
      const { events, post } = await started(name)
      for (const event of FIXTURE_EVENTS) {
        const { headers, body } = await webhookFixture(event)
        assert.deepEqual(await post(headers, body), { status: 204, text: '' })
      }
      assert.deepEqual(
        events.map(({ event }) => event),
        FIXTURE_EVENTS,
      )
    })

    test('answers 400 with the reason to a webhook that must not be believed, and logs it', async () => {
      const { events, lines, post } = await started(name)
      const { headers, body } = await webhookFixture('age.session.completed')
      const refused = await post(headers, body.replace('AGE_', 'age_'))
      assert.deepEqual([refused.status, JSON.parse(refused.text)], [400, { reason: 'body_changed' }])
      assert.equal((await post({ 'content-type': 'application/json' }, body)).status, 400)
      assert.match(lines[0] ?? '', /^ostiary: a webhook was refused: body_changed: /)
      assert.equal(events.length, 0)
    })

    test('answers 500 when the host fails, and handles the next attempt; an event that comes twice is handled once', async () => {
      const seen = new Set<string>()
      const tries: number[] = []
      const onEvent = async ({ attempt }: ReceivedEvent) => {
        tries.push(attempt)
        if (attempt === 1) throw new Error('the database is away')
      }
      const { post, lines } = await started(name, { seen, onEvent })
      const statuses: number[] = []
      for (const attempt of [1, 2, 3]) {
        const { headers, body } = await webhookFixture('verification.succeeded', { id: 'delivery-1', attempt })
        statuses.push((await post(headers, body)).status)
      }
      assert.deepEqual(
        [statuses, tries],
        [
          [500, 204, 204],
          [1, 2],
        ],
      )
      assert.match(lines[0] ?? '', /will come again: the database is away/)
    })
  })
}

test('Express after express.json() says that the body was parsed', async () => {
  const app = express()
  const lines: string[] = []
  app.use(express.json())
  const logger = { warn: (line: string) => void lines.push(line) }
  app.post(PATH, expressWebhook({ apiKey: FIXTURE_API_KEY, onEvent: () => {}, logger }))
  const host = await listening(createServer(app))
  hosts.push(host)
  const { headers, body } = await webhookFixture('age.session.completed')
  const response = await fetch(host.url, { method: 'POST', headers, body })
  assert.deepEqual([response.status, await response.json()], [400, { reason: 'body_parsed' }])
  assert.match(lines[0] ?? '', /put this route before the JSON parser/)
})

test('the plugin leaves the parsers of other routes of Fastify as they are', async () => {
  const { url } = await started('Fastify')
  const response = await fetch(url.replace(PATH, '/other'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
  })
  assert.deepEqual(await response.json(), { a: 1 })
})
