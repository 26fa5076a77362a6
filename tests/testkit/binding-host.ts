import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  checkReturn,
  createClient,
  newState,
  type OstiaryClient,
  type VerificationWebhook,
  verifyWebhook,
} from '@ostiary/sdk'

/**
 * A host as docs/api/verification.md teaches it: the state in a cookie, the signature of the webhook, its status, its recommendation, and
 * the code of the return. Nothing in here knows that it is attacked.
 */
export interface BindingHost {
  url: string
  client: OstiaryClient
  /** The webhook of this session, once it has arrived and its signature was right. */
  webhookOf(sessionId: string): Promise<VerificationWebhook>
  close(): Promise<void>
}

export interface BindingHostOptions {
  baseUrl: string
  key: string
  /** Where it listens on this machine. Default: a free port. */
  port?: number
  /** The recommendations with which it lets users in. Default: ALLOW alone, as documented. */
  accepts?: readonly VerificationWebhook['riskEvaluation']['recommendation'][]
  /** Answers what is not part of signing in. Returns false for what it does not know. */
  more?(request: IncomingMessage, reply: ServerResponse): boolean
}

/** A session that the host has created for one browser. */
interface Pending {
  sessionId: string
}

const WEBHOOK_MS = 20_000

export async function startBindingHost({
  baseUrl,
  key,
  port = 0,
  accepts = ['ALLOW'],
  more = () => false,
}: BindingHostOptions): Promise<BindingHost> {
  const client = createClient({ baseUrl, apiKey: key })
  const pending = new Map<string, Pending>()
  const webhooks = new Map<string, PromiseWithResolvers<VerificationWebhook>>()
  const arrived = new Set<string>()
  const webhookOf = (sessionId: string) => {
    const known = webhooks.get(sessionId) ?? Promise.withResolvers<VerificationWebhook>()
    webhooks.set(sessionId, known)
    return known
  }

  /** The user wants to sign in: the browser gets a state of its own, which only it and the redirect know. */
  async function start(query: URLSearchParams, reply: ServerResponse): Promise<void> {
    const state = newState()
    const transactionID = query.get('transaction')
    const requirements = query.has('passkey') ? (['face', 'passkey'] as const) : (['face'] as const)
    const created = await client.verification.create({
      type: 'SIGN-IN',
      redirectURL: `${url}/back?state=${state}`,
      callback: { url: `${url}/hook` },
      enableDesktop: !query.has('desktop-waits'),
      requirements: [...requirements],
      ...(transactionID !== null && { transactionID }),
    })
    pending.set(state, { sessionId: created.sessionId })
    reply.setHeader('set-cookie', `state=${state}; HttpOnly; SameSite=Lax; Path=/`)
    send(reply, 200, { launchUrl: created.launchUrl, sessionId: created.sessionId })
  }

  async function hook(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const body = await bytesOf(request)
    const isGenuine = await verifyWebhook({
      apiKey: key,
      timestamp: headerOf(request, 'x-service-timestamp'),
      signature: headerOf(request, 'x-service-signature'),
      body,
    })
    if (!isGenuine) return send(reply, 401, {})
    const webhook = JSON.parse(body.toString()) as VerificationWebhook
    arrived.add(webhook.sessionId)
    webhookOf(webhook.sessionId).resolve(webhook)
    send(reply, 200, {})
  }

  /** A webhook may arrive after the browser. There is none to wait for while the session is open. */
  async function webhookIfEnded(sessionId: string): Promise<VerificationWebhook | undefined> {
    const isEnded = arrived.has(sessionId) || (await client.verification.get(sessionId)).outcome !== null
    return isEnded ? Promise.race([webhookOf(sessionId).promise, after(WEBHOOK_MS)]) : undefined
  }

  /** A browser comes back. It is let in only when everything agrees. */
  async function back(called: string, cookie: string, reply: ServerResponse): Promise<void> {
    const state = /(?:^|; )state=([^;]+)/.exec(cookie)?.[1]
    const sessionId = state === undefined ? undefined : pending.get(state)?.sessionId
    if (state === undefined || sessionId === undefined) return send(reply, 403, { why: 'no_session' })
    const webhook = await webhookIfEnded(sessionId)
    const check = await checkReturn({ url: called, state, sessionId, codeHash: webhook?.codeHash })
    if (check.reason === 'other_browser') return send(reply, 403, { why: check.reason })
    if (!webhook) return send(reply, 403, { why: 'no_webhook' })
    if (!check.isBound) return send(reply, 403, { why: check.reason })
    const { status, riskEvaluation } = webhook
    if (status !== 'SUCCESS' || !accepts.includes(riskEvaluation.recommendation))
      return send(reply, 403, { why: 'failed' })
    pending.delete(state)
    send(reply, 200, { puid: webhook.puid, ticket: randomUUID() })
  }

  const server = createServer((request, reply) => {
    if (more(request, reply)) return
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://host')
    const route =
      pathname === '/start'
        ? start(searchParams, reply)
        : pathname === '/hook'
          ? hook(request, reply)
          : back(request.url ?? '', request.headers.cookie ?? '', reply)
    route.catch((error: unknown) => send(reply, 500, { why: String(error) }))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    client,
    webhookOf: (sessionId) => webhookOf(sessionId).promise,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function send(reply: ServerResponse, status: number, body: object): void {
  reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const after = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms, undefined).unref())
