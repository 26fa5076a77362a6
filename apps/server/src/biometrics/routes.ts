import {
  checkNodeKey,
  DEFAULT_PATH_VERSION,
  NODE_LIMITS,
  nodeDeleteUser,
  nodeEnroll,
  nodePlainEnroll,
  nodePlainPredict,
  nodePredict,
  type Operation,
  type RateName,
} from '@ostiary/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { callerOf, type Guard, presentedKeyOf } from '../keys/index.ts'
import { trackCorrelation } from '../platform/correlation.ts'
import { isId } from '../platform/ids.ts'
import { route } from '../platform/route.ts'
import type { DeclaredModels } from './declared-models.ts'
import type { Enrolled } from './enrolment.ts'
import { nodeError } from './errors.ts'
import type { FaceModel } from './models.ts'
import type { NodeAnswers } from './node-answers.ts'
import type { Candidate, Recognition } from './recognition.ts'
import * as read from './request.ts'
import type { Transport } from './transport.ts'

interface Deps {
  answers: NodeAnswers
  recognition: Recognition
  transport: Transport
  models: DeclaredModels
  guard: Guard
}

const NEW = 'Ok'
const KNOWN = 'User Already Enrolled'
const NOT_ENROLLED = 'User not enrolled'

/** Area E. Every path is under `/node`, every body is read by request.ts, every error is a row of one table. */
export async function nodeRoutes(app: FastifyInstance, deps: Deps): Promise<void> {
  trackCorrelation(app, NODE_LIMITS.correlationIdChars)
  keyCheckRoute(app, deps)
  plainRoutes(app, deps)
  sealedRoutes(app, deps)
}

function access(guard: Guard, op: Operation, rate: RateName) {
  return {
    guard: guard.headerFirst(op, 'afterBody'),
    guardAfterBody: guard.afterBody(op, rate),
    checkBody: false,
    bodyLimitBytes: NODE_LIMITS.bodyBytes,
  }
}

function keyCheckRoute(app: FastifyInstance, { guard }: Deps): void {
  route(app, checkNodeKey, {
    ...access(guard, checkNodeKey, 'node-key-check'),
    guard: guard.headerFirst(checkNodeKey, 'keyCheck'),
    guardAfterBody: guard.keyCheck(checkNodeKey, 'node-key-check'),
    handler(request) {
      read.readFields(request.body, [])
      return { status: 0, message: 'API Key is valid' }
    },
  })
}

function plainRoutes(app: FastifyInstance, { guard, answers, models }: Deps): void {
  const plainModel = (request: FastifyRequest, version: unknown) =>
    models.find(callerOf(request).tenantId, read.readVersion(version))

  route(app, nodePlainEnroll, {
    ...access(guard, nodePlainEnroll, 'node-enroll'),
    async handler(request) {
      const fields = read.readFields(request.body, ['version', 'features', 'metadata'])
      const write = idWriter(request)
      const model = await plainModel(request, fields.version)
      const features = read.requireFeatures(fields.features, 'NODE_ENROLL_FEATURES_MISSING')
      const externalId = read.readMetadataId(fields.metadata)
      const vectors = [read.readFeature(features, model)]
      const enrolled = await answers.enrol(callerOf(request), { model, vectors, externalId })
      return {
        status: 0,
        statusCode: 200,
        message: messageFor(enrolled),
        puid: write(enrolled.personId),
        guid: write(enrolled.guid),
        enroll_level: enrolled.enrollLevel,
      }
    },
  })
  route(app, nodePlainPredict, {
    ...access(guard, nodePlainPredict, 'node-predict'),
    async handler(request) {
      const fields = read.readFields(request.body, ['version', 'features', 'K', 'user_identifier'])
      const write = idWriter(request)
      const model = await plainModel(request, fields.version)
      const features = read.requireFeatures(fields.features, 'NODE_PREDICT_FEATURES_MISSING')
      const candidates = read.readCandidates(fields.K)
      const identifier = read.readUserIdentifier(fields.user_identifier)
      // ROT13 is its own inverse. Only ids that we wrote are encoded; a name of the caller's own is used unchanged.
      const decoded = identifier === undefined ? '' : write(identifier)
      const found = await answers.predict(callerOf(request), {
        model,
        vectors: [read.readFeature(features, model)],
        candidates,
        userIdentifier: isId(decoded) ? decoded : identifier,
      })
      const written = found.map((one) => ({ ...one, puid: write(one.puid), guid: write(one.guid) }))
      return { statusCode: 200, ...predictReply(written, candidates, -1) }
    },
  })
}

function sealedRoutes(app: FastifyInstance, { guard, answers, recognition, transport, models }: Deps): void {
  for (const op of withDefaultPath(nodeEnroll)) {
    route(app, op, {
      ...access(guard, op, 'node-enroll'),
      async handler(request) {
        const model = await sealedModel(request)
        const fields = read.readFields(request.body, ['features', 'metadata'])
        const features = read.requireFeatures(fields.features, 'NODE_ENROLL_FEATURES_MISSING')
        const externalId = read.readMetadataId(fields.metadata)
        const vectors = await openFeatures(request, features, 'enroll', model)
        const enrolled = await answers.enrol(callerOf(request), { model, vectors, externalId })
        const [ids] = await transport.sealIds(presentedKeyOf(request), model.version, [
          { puid: enrolled.personId, guid: enrolled.guid },
        ])
        const { enrollLevel: enroll_level, score } = enrolled
        return { status: 0, message: messageFor(enrolled), enroll_level, ...ids, score }
      },
    })
  }
  for (const op of withDefaultPath(nodePredict)) {
    route(app, op, {
      ...access(guard, op, 'node-predict'),
      async handler(request) {
        const model = await sealedModel(request)
        const fields = read.readFields(request.body, ['features', 'K', 'user_identifier'])
        const features = read.requireFeatures(fields.features, 'NODE_PREDICT_FEATURES_MISSING')
        const candidates = read.readCandidates(fields.K)
        const identifier = read.readUserIdentifier(fields.user_identifier)
        const vectors = await openFeatures(request, features, 'predict', model)
        const userIdentifier = identifier && (await openIdentifier(request, identifier))
        const found = await answers.predict(callerOf(request), { model, vectors, candidates, userIdentifier })
        return predictReply(await transport.sealIds(presentedKeyOf(request), model.version, found), candidates, '-1')
      },
    })
  }
  for (const op of withDefaultPath(nodeDeleteUser)) {
    route(app, op, {
      ...access(guard, op, 'node-delete'),
      async handler(request) {
        const model = await sealedModel(request)
        const { puid, metadata } = read.readFields(request.body, ['puid', 'metadata'])
        const externalId = read.readMetadataId(metadata)
        if (read.isMissing(puid) && externalId === undefined) throw nodeError('NODE_PUID_MISSING')
        const personId = read.isMissing(puid)
          ? externalId && (await recognition.find(callerOf(request), { externalId }))?.puid
          : typeof puid === 'string' && (await transport.openPuid(presentedKeyOf(request), puid, model.version))
        const deleted = personId && (await recognition.delete(callerOf(request), personId))
        if (!deleted) throw nodeError('NODE_DELETE_FAILED')
        return { status: 200, message: 'delete successful' }
      },
    })
  }

  async function sealedModel(request: FastifyRequest): Promise<FaceModel> {
    const { version } = (request.params ?? {}) as { version?: string }
    read.checkEncryptionVersion(request.headers['x-encryption-version'])
    return models.find(callerOf(request).tenantId, read.readVersion(version, DEFAULT_PATH_VERSION))
  }

  async function openFeatures(
    request: FastifyRequest,
    features: unknown,
    purpose: 'enroll' | 'predict',
    model: FaceModel,
  ): Promise<Float64Array[]> {
    const compact = read.requireText(features)
    const expected = { purpose, version: model.version }
    const text = await transport.openFeatures(callerOf(request), presentedKeyOf(request), compact, expected)
    return read.readFeatureList(text, model)
  }

  /** On these endpoints a caller may have a puid only in the form that we encrypted; that form is accepted. */
  async function openIdentifier(request: FastifyRequest, identifier: string): Promise<string> {
    return (await transport.openPuid(presentedKeyOf(request), identifier)) ?? identifier
  }
}

/** The path names the model version; without one the default applies. */
function withDefaultPath<O extends Operation>(op: O): O[] {
  // Not checked by the schema: a name that breaks its pattern has the answer of every unknown version.
  const unchecked = { ...op, params: undefined }
  return [unchecked, { ...unchecked, path: op.path.replace('/:version', '') }]
}

function idWriter(request: FastifyRequest): (id: string) => string {
  return read.readEncoding(request.headers['x-encoding']) ? read.rot13 : (id) => id
}

function messageFor({ isNew }: Enrolled): string {
  return isNew ? NEW : KNOWN
}

/** The specification's rules 3 to 5. Of nobody both rules are met: 5 beside the list that 4 asks for. */
function predictReply(found: readonly Candidate[], candidates: number, noScore: number | string) {
  const list = candidates > 1 && { PI_list: found.map(({ puid, guid, score }) => ({ puid, guid, score })) }
  const [best] = found
  if (!best) return { status: -1, message: NOT_ENROLLED, puid: '-1', guid: '-1', score: noScore, ...list }
  const { puid, guid, enrollLevel, score } = best
  const replay = found.some(({ isReplay }) => isReplay) && { replay: true }
  return { status: 0, message: NEW, ...(list || { puid, guid, enroll_level: enrollLevel, score }), ...replay }
}
