import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  LAUNCH_API,
  LAUNCH_LIMITS,
  LAUNCH_RATES,
  type LaunchEvent,
  launchCancel,
  launchChallenge,
  launchConsent,
  launchDocument,
  launchDocumentSubmit,
  launchEvents,
  launchExtend,
  launchFailure,
  launchHandoff,
  launchNumber,
  launchOpen,
  launchPasskeyOptions,
  launchPasskeyVerify,
  launchStatus,
  launchSubmit,
  launchTakeBack,
  launchTokenBegin,
  launchTokenEnrol,
  launchTokenProbe,
  type Operation,
} from '@ostiary/contract'
import { DEVICE_PROOF_HEADER } from '@ostiary/crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../platform/clock.ts'
import { AppError } from '../platform/errors.ts'
import { bodyHashOf, hashBodies } from '../platform/http.ts'
import { networksOf } from '../platform/networks.ts'
import type { RateLimiter, Share } from '../platform/rate-limit.ts'
import { type Check, route } from '../platform/route.ts'
import type { NetworkListFiles } from '../risk/index.ts'
import { isFinal, isSessionId } from '../sessions/index.ts'
import { TOKEN_BODY_BYTES } from '../verification/index.ts'
import type { Sender } from './browser-data.ts'
import type { DeviceCall } from './call.ts'
import type { HandoffGuesses } from './handoff-guesses.ts'
import type { Launch, Watcher } from './service.ts'
import type { Watchers } from './watchers.ts'

interface Deps {
  launch: Launch
  networkLists: NetworkListFiles
  watchers: Watchers
  handoffGuesses: HandoffGuesses
  addressLimiter: RateLimiter
  clock: Clock
  /** The launch page's origin, when it is not ours. */
  origin: string
}

export async function launchRoutes(
  app: FastifyInstance,
  { launch, networkLists, watchers, handoffGuesses, addressLimiter, clock, origin }: Deps,
): Promise<void> {
  allowOrigin(app, origin)
  hashBodies(app)

  /** Per session and per address: a page calls a dozen times. */
  const limit: Check = async (request) => {
    const sessionId = sessionIdOf(request)
    const counters: [string | Share[], (typeof LAUNCH_RATES)[keyof typeof LAUNCH_RATES]][] = [
      [networksOf(request.ip, 'launch/address'), LAUNCH_RATES.address],
    ]
    // Any other value is refused anyway, and must count against no session.
    if (isSessionId(sessionId)) counters.push([`launch/session/${sessionId}`, LAUNCH_RATES.session])
    for (const [name, { perSecond, burstSeconds }] of counters) {
      const { allowed, retryAfterSeconds } = addressLimiter.take(name, perSecond, clock.monotonicMs(), burstSeconds)
      if (!allowed) throw new AppError('rate_limited', 'RATE_LIMITED', 'Too many requests', { retryAfterSeconds })
    }
  }

  const limitEnrolments: Check = async (request, reply) => {
    await limit(request, reply)
    const networks = networksOf(request.ip, 'launch/token')
    const { perSecond, burstSeconds } = LAUNCH_RATES.tokenEnrolments
    const { allowed, retryAfterSeconds } = addressLimiter.take(networks, perSecond, clock.monotonicMs(), burstSeconds)
    if (!allowed) throw new AppError('rate_limited', 'RATE_LIMITED', 'Too many requests', { retryAfterSeconds })
  }

  const serve = <O extends Operation>(
    op: O,
    handler: Parameters<typeof route<O>>[2]['handler'],
    bodyLimitBytes: number = LAUNCH_LIMITS.bodyBytes,
    guardAfterBody: Check = limit,
  ) => route(app, op, { guardAfterBody, bodyLimitBytes, handler })

  serve(launchOpen, (request) => {
    const open = () =>
      launch.open(callOf(request), request.body, {
        userAgent: request.headers['user-agent'],
        secChUaMobile: textOf(request.headers['sec-ch-ua-mobile']),
        acceptLanguage: request.headers['accept-language'],
        network: networkLists.find(request.ip),
      })
    if (request.body.handoffCode === undefined) return open()
    return handoffGuesses.watch(request.body.sessionId, request.ip, open)
  })
  serve(launchConsent, (request) => launch.consent(callOf(request), request.body, request.ip))
  serve(launchChallenge, (request) => launch.challenge(callOf(request, request.body.events), request.body))
  serve(launchEvents, (request) => launch.events(callOf(request, request.body.events)))
  serve(
    launchSubmit,
    (request) => launch.submit(callOf(request), request.body, senderOf(request)),
    LAUNCH_LIMITS.submitBytes,
  )
  serve(launchDocument, (request) => launch.document(callOf(request)))
  serve(launchDocumentSubmit, (request) =>
    launch.documentSubmit(callOf(request), request.body.sealed, senderOf(request)),
  )
  serve(launchFailure, (request) => launch.failure(callOf(request, request.body.events), request.body))
  serve(launchCancel, (request) => launch.cancel(callOf(request)))
  serve(launchExtend, (request) => launch.extend(callOf(request)))
  serve(launchHandoff, (request) => launch.handoff(callOf(request)))
  serve(launchNumber, (request) => launch.number(callOf(request), request.body.number))
  serve(launchPasskeyOptions, (request) => launch.passkeyOptions(callOf(request)))
  serve(launchPasskeyVerify, (request) => launch.passkeyVerify(callOf(request), request.body.response))
  serve(launchTokenBegin, (request) => launch.tokenBegin(callOf(request), request.body))
  serve(
    launchTokenEnrol,
    (request) => launch.tokenEnrol(callOf(request), request.body),
    TOKEN_BODY_BYTES.enrol,
    limitEnrolments,
  )
  serve(launchTokenProbe, (request) => launch.tokenProbe(callOf(request), request.body), TOKEN_BODY_BYTES.probe)
  serve(launchTakeBack, (request) => launch.takeBack(callOf(request)))
  let closing = false
  app.addHook('preClose', (done) => {
    closing = true
    done()
  })
  serve(launchStatus, async (request, reply) => {
    const call = callOf(request)
    const watcher = await launch.watch(call)
    // The state of an ended session is sent once.
    const { tenantId, thumbprint, isEnded } = watcher
    const slot = isEnded ? undefined : watchers.take(tenantId, `${call.sessionId}/${thumbprint}`, reply.raw)
    // A process that shuts down waits for its requests, and this one would take a quarter of an hour.
    const isOver = () => closing || reply.raw.destroyed || slot?.isLost() === true
    return reply
      .header('content-type', 'text/event-stream; charset=utf-8')
      .header('x-accel-buffering', 'no')
      .send(Readable.from(follow(launch, call.sessionId, watcher, { clock, isOver })))
  })
}

/** The limits read this before the body is validated: it may be anything. */
function sessionIdOf({ body, query }: FastifyRequest): string {
  const place = typeof body === 'object' && body !== null ? body : query
  const { sessionId } = place as { sessionId?: unknown }
  return typeof sessionId === 'string' ? sessionId : ''
}

function callOf(request: FastifyRequest, events: readonly LaunchEvent[] = []): DeviceCall {
  return {
    sessionId: sessionIdOf(request),
    method: request.method,
    path: request.url.split('?', 1)[0] ?? '',
    bodyHash: bodyHashOf(request),
    proof: textOf(request.headers[DEVICE_PROOF_HEADER]),
    events,
  }
}

const senderOf = ({ headers }: FastifyRequest): Sender => ({
  userAgent: headers['user-agent'],
  isBrowser: headers.origin !== undefined || headers['sec-fetch-site'] !== undefined,
})

const textOf = (header: string | string[] | undefined) => (typeof header === 'string' ? header : undefined)

const LOOK_EVERY_MS = 300
/** Sends a comment regularly, so that no proxy closes the connection as idle. */
const BREATHE_EVERY_MS = 15_000

/** One event for each change of what the watcher may know, until the flow ends or the client leaves. Polls the database, so that no change is lost. */
async function* follow(
  launch: Launch,
  sessionId: string,
  watcher: Watcher,
  { clock, isOver }: { clock: Clock; isOver: () => boolean },
): AsyncGenerator<string> {
  const endsMs = clock.monotonicMs() + LAUNCH_LIMITS.watchSeconds * 1000
  let breathedMs = clock.monotonicMs()
  let version: number | undefined
  let sent: string | undefined
  while (!isOver() && clock.monotonicMs() < endsMs) {
    const found = await launch.findState(sessionId)
    if (!found) return
    if (found.version !== version) {
      version = found.version
      const reply = await launch.findStateFor(sessionId, watcher)
      if (!reply) return
      const data = JSON.stringify(reply)
      if (data !== sent) yield `event: state\ndata: ${data}\n\n`
      sent = data
      if (isFinal(reply.state)) return
    } else if (clock.monotonicMs() - breathedMs > BREATHE_EVERY_MS) {
      breathedMs = clock.monotonicMs()
      yield ': still here\n\n'
    }
    await sleep(LOOK_EVERY_MS)
  }
}

/** The launch page may be on a host of its own; no other page may call these routes from a browser. */
function allowOrigin(app: FastifyInstance, origin: string): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('vary', 'origin')
    if (request.headers.origin === origin) {
      reply.header('access-control-allow-origin', origin)
      reply.header('access-control-expose-headers', 'date, retry-after, x-request-id')
    }
    done()
  })
  app.options(`${LAUNCH_API}*`, (request, reply) => {
    if (request.headers.origin !== origin) return reply.code(403).send()
    return reply
      .header('access-control-allow-methods', 'GET, POST')
      .header('access-control-allow-headers', `content-type, ${DEVICE_PROOF_HEADER}`)
      .header('access-control-max-age', '600')
      .code(204)
      .send()
  })
}
