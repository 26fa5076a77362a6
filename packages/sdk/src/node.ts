import type { Feature, ModelVersion } from '@ostiary/contract'
import { DEFAULT_PATH_VERSION, DEFAULT_PLAIN_VERSION, ENCRYPTION_VERSION } from '@ostiary/contract/node-versions'
import { type EnvelopePurpose, openEnvelope, sealEnvelope } from '@ostiary/crypto'
import { nowSeconds } from './clock.ts'
import { invalidOption } from './error.ts'
import { type CallOptions, OstiaryError, type Send } from './http.ts'

export interface EnrollOptions extends CallOptions {
  /** A built-in version, or a model that your tenant has declared. Default `FACE3_1` for `enroll`, `FACE3_3` for `plainEnroll`. */
  version?: ModelVersion
  /** Your own identifier for the user; the service stores a keyed hash of it. */
  metadataId?: string
}

export interface PredictOptions extends CallOptions {
  /** As for the enrolment; only people who were enrolled in this version are found. */
  version?: ModelVersion
  /** The maximum number of candidates. Default 1. */
  K?: number
  /** Compares only with this user: a puid, or the `metadataId` of the enrolment. */
  userIdentifier?: string
}

export interface Enrolled {
  /** The person. */
  puid: string
  /** The group: all persons of this tenant and mode. */
  guid: string
  /** How well the vectors describe the face, as the interface names it. */
  enrollLevel: number
  /** False when this face was already enrolled; `puid` is then that user's. */
  isNew: boolean
}

export interface Candidate {
  /** The person. */
  puid: string
  /** The group: all persons of this tenant and mode. */
  guid: string
  /** The lower edge of a band (0.5, 0.9, 0.99), or exact where the tenant set `nodeScores` to `exact`. */
  score: number
  /** The features are those of an enrolment itself, sent again: no new picture of a face. */
  replay?: true
}

/** A key that may be used. */
export interface CheckedKey {
  /** 0. */
  status: number
  /** The same in words. */
  message: string
}

interface EnrollReply {
  message: string
  puid: string
  guid: string
  enroll_level: number
}

interface PredictReply {
  status: number
  puid?: string
  guid?: string
  score?: number | string
  PI_list?: Candidate[]
  replay?: true
}

/** Area E. The SDK encrypts features and decrypts ids, so neither travels in clear text. */
export function createNodeClient(send: Send, apiKey: string | undefined) {
  const key = () => {
    if (apiKey === undefined) throw invalidOption('Area E needs an API key: createClient({ apiKey })')
    return apiKey
  }
  const seal = (purpose: EnvelopePurpose, version: ModelVersion, text: string) =>
    sealEnvelope(key(), { purpose, modelVersion: version, issuedAt: nowSeconds(), id: crypto.randomUUID(), text })
  const open = async (purpose: 'puid' | 'guid', compact: string) =>
    (await openEnvelope(key(), compact, { purposes: [purpose] })).text
  const openIds = async <T extends { puid: string; guid: string }>(row: T): Promise<T> => ({
    ...row,
    puid: await open('puid', row.puid),
    guid: await open('guid', row.guid),
  })
  const headers = { 'x-encryption-version': String(ENCRYPTION_VERSION) }
  // Each attempt gets a new envelope: the service accepts each envelope only once.
  const sealedBody =
    (purpose: 'enroll' | 'predict', version: ModelVersion, features: readonly Feature[], more: object) => async () => ({
      features: await seal(purpose, version, JSON.stringify(features)),
      ...more,
    })

  return {
    /** Resolves when the key may be used on this area; rejects with the reason otherwise. */
    checkKey: (options: CallOptions = {}): Promise<CheckedKey> =>
      send({
        ...options,
        operation: 'checkNodeKey',
        method: 'POST',
        path: '/node/api-key/checkApiKeyValid',
        body: {},
      }),

    /** Enrols a user by their face vectors, or finds that they are enrolled: `isNew` says which. */
    async enroll(features: readonly Feature[], options: EnrollOptions = {}): Promise<Enrolled> {
      const { version = DEFAULT_PATH_VERSION } = options
      const makeBody = sealedBody('enroll', version, features, metadataOf(options))
      const call = { operation: 'nodeEnroll', method: 'POST', path: `/node/${version}/enroll`, headers, makeBody }
      const reply = await send<EnrollReply>({ ...call, ...limitsOf(options) })
      return toEnrolled(await openIds(reply))
    },

    /** The candidates, best first; none when the user is not enrolled. */
    async predict(features: readonly Feature[], options: PredictOptions = {}): Promise<Candidate[]> {
      const { version = DEFAULT_PATH_VERSION } = options
      const makeBody = sealedBody('predict', version, features, predictFields(options))
      const call = { operation: 'nodePredict', method: 'POST', path: `/node/${version}/predict`, headers, makeBody }
      const reply = await send<PredictReply>({ ...call, ...limitsOf(options) })
      return Promise.all(toCandidates(reply).map(openIds))
    },

    /**
     * Deletes the user with all biometric data, by `puid` or by the `metadata.id` given at enrolment. False when there was no such user; true
     * when a lost attempt deleted it.
     */
    async deleteUser(
      user: string | Required<Pick<EnrollOptions, 'metadataId'>>,
      options: CallOptions = {},
    ): Promise<boolean> {
      const version = DEFAULT_PATH_VERSION
      const makeBody = async () =>
        typeof user === 'string' ? { puid: await seal('deleteUser', version, user) } : metadataOf(user)
      let mayBeDone = false
      const reply = await send<{ status: number; message: string }>({
        ...limitsOf(options),
        operation: 'nodeDeleteUser',
        method: 'POST',
        path: `/node/${version}/deleteUser`,
        headers,
        makeBody,
        alsoOk: [400],
        // Only a call that hit the rate limit certainly did nothing. After any other failure the deletion may have happened.
        onRetry: ({ status }) => {
          mayBeDone ||= status !== 429
        },
      })
      if (reply.status !== 200 && reply.status !== 400) throw new OstiaryError(400, reply)
      return reply.status === 200 || mayBeDone
    },

    /** As `enroll`, with one vector that travels as it is: TLS alone protects it. */
    async plainEnroll(feature: Feature, options: EnrollOptions = {}): Promise<Enrolled> {
      const body = { version: options.version ?? DEFAULT_PLAIN_VERSION, features: feature, ...metadataOf(options) }
      const call = { operation: 'nodePlainEnroll', method: 'POST', path: '/node/plainEnroll', body }
      return toEnrolled(await send<EnrollReply>({ ...call, ...limitsOf(options) }))
    },

    /** As `predict`, with one vector that travels as it is: TLS alone protects it. */
    async plainPredict(feature: Feature, options: PredictOptions = {}): Promise<Candidate[]> {
      const body = { version: options.version ?? DEFAULT_PLAIN_VERSION, features: feature, ...predictFields(options) }
      const call = { operation: 'nodePlainPredict', method: 'POST', path: '/node/plainPredict', body }
      return toCandidates(await send<PredictReply>({ ...call, ...limitsOf(options) }))
    },
  }
}

const limitsOf = ({ signal, timeoutMs }: CallOptions): CallOptions => ({ signal, timeoutMs })

function metadataOf({ metadataId }: EnrollOptions) {
  return metadataId === undefined ? {} : { metadata: { id: metadataId } }
}

function predictFields({ K, userIdentifier }: PredictOptions) {
  return { ...(K !== undefined && { K }), ...(userIdentifier !== undefined && { user_identifier: userIdentifier }) }
}

function toEnrolled({ puid, guid, enroll_level, message }: EnrollReply): Enrolled {
  return { puid, guid, enrollLevel: enroll_level, isNew: message === 'Ok' }
}

function toCandidates({ status, puid = '', guid = '', score, PI_list, replay }: PredictReply): Candidate[] {
  if (status !== 0) return []
  const found = PI_list ?? [{ puid, guid, score: Number(score) }]
  return replay ? found.map((one) => ({ ...one, replay })) : found
}
