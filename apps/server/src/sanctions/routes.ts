import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import {
  listDatasets,
  REFUSED_FILES,
  SANCTIONS_LIMITS,
  SCORE_THRESHOLD_MESSAGE,
  screenFile,
  screenPeople,
} from '@ostiary/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { callerOf, type Guard } from '../keys/index.ts'
import { abortWhenClosed } from '../platform/abort-when-closed.ts'
import { AppError, type Fault, invalid } from '../platform/errors.ts'
import { refuseEncodings } from '../platform/http.ts'
import { networkOf } from '../platform/networks.ts'
import { route } from '../platform/route.ts'
import type { SanctionsService } from './service.ts'

interface Deps {
  sanctions: SanctionsService
  guard: Guard
}

/** Read as text because an invalid threshold and an unknown dataset have their own answers. */
const asText = {
  params: Type.Object({ dataset: Type.String() }),
  threshold: { scoreThreshold: Type.Optional(Type.Unknown()) },
}
const screenFileAsText = {
  ...screenFile,
  params: asText.params,
  query: Type.Object({ ...screenFile.query.properties, ...asText.threshold }, { additionalProperties: false }),
}
const screenPeopleAsText = {
  ...screenPeople,
  params: asText.params,
  query: Type.Object(asText.threshold, { additionalProperties: false }),
}
const JSON_TYPE = 'application/json; charset=utf-8'

export async function sanctionsRoutes(app: FastifyInstance, { sanctions, guard }: Deps): Promise<void> {
  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest, body: unknown) => {
    refuseEncodings(request)
    return body
  })

  app.addHook('onError', async (request, _reply, error) => {
    const isFile = request.routeOptions.url === screenFilePath
    if (isFile && error instanceof AppError && REFUSALS.has(error.fault) && error.code !== 'FILE_TOO_COSTLY')
      guard.giveBack(request, 'sanctions', REFUSED_FILES)
  })
  route(app, screenFileAsText, {
    guard: guard.before(screenFile, 'sanctions'),
    checkBody: false,
    bodyLimitBytes: SANCTIONS_LIMITS.multipartBytes,
    async handler(request, reply) {
      const { version, run, part = 1, scoreThreshold } = request.query
      if (run === undefined && request.query.part !== undefined) throw invalid('/query/part', 'needs `run`')
      const answer = await sanctions.screenFile({
        ...askedBy(request, reply),
        version,
        run: run === undefined ? undefined : { id: run, part },
        threshold: readThreshold(scoreThreshold),
        upload: { headers: request.headers, body: request.body },
      })
      return sendUnlessUnread(reply, answer)
    },
  })
  route(app, screenPeopleAsText, {
    guard: guard.before(screenPeople, 'sanctions-match'),
    async handler(request, reply) {
      const { people } = request.body
      const threshold = readThreshold(request.query.scoreThreshold)
      const answer = await sanctions.screenPeople({ ...askedBy(request, reply), threshold, people })
      return sendUnlessUnread(reply, await buffer(answer))
    },
  })
  route(app, listDatasets, {
    guard: guard.before(listDatasets, 'sanctions-manage'),
    handler: async (request) => ({ datasets: await sanctions.datasets(callerOf(request)) }),
  })
}

const screenFilePath = screenFile.path
/** Nothing was screened, and the caller can send the file again as it should be. */
const REFUSALS: ReadonlySet<Fault> = new Set<Fault>(['invalid_request', 'not_found', 'too_large', 'unsupported_type'])

function askedBy(request: FastifyRequest<{ Params: { dataset: string } }>, reply: FastifyReply) {
  const caller = callerOf(request)
  return {
    caller,
    sender: caller.keyId ?? networkOf(request.ip),
    dataset: request.params.dataset,
    requestId: request.id,
    signal: abortWhenClosed(reply),
    answered: whenAnswered(reply),
  }
}

/** A caller that stops reading must not keep the answer in memory. */
function sendUnlessUnread(reply: FastifyReply, answer: Readable | Buffer): FastifyReply {
  reply.raw.setTimeout(UNREAD_MS, () => reply.raw.destroy())
  return reply.header('content-type', JSON_TYPE).send(answer)
}

const DECIMAL = /^[+]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i

function readThreshold(value: unknown): number {
  if (value === undefined) return SANCTIONS_LIMITS.scoreThresholdDefault
  const threshold = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : Number.NaN
  if (threshold > 0 && threshold <= 1) return threshold
  const details = [{ pointer: '/query/scoreThreshold', message: 'must be above 0 and at most 1' }]
  throw new AppError('invalid_request', 'VALIDATION_FAILED', SCORE_THRESHOLD_MESSAGE, { details })
}

/** Resolves when the answer is handed to the operating system or its connection is closed. Only then may the file's slot be free. */
function whenAnswered(reply: FastifyReply): Promise<void> {
  return new Promise((resolve) => {
    reply.raw.once('finish', resolve)
    reply.raw.once('close', resolve)
  })
}

const UNREAD_MS = 30_000
