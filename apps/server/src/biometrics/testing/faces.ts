/** Made-up faces and a client for tests. The faces are vectors that cluster as those of real faces do. Deterministic. */
import { randomUUID } from 'node:crypto'
import { type BuiltInVersion, FACE_MODELS } from '@ostiary/contract'
import { type Envelope, openEnvelope, sealEnvelope } from '@ostiary/crypto'
import type { Harness } from '../../testing/harness.ts'

export interface Faces {
  /** A new person, in a built-in model or in one whose vectors have so many entries. */
  person(model?: BuiltInVersion | number): number[]
  /** Another picture of a person: `cosine` to the first one. */
  sample(of: readonly number[], cosine?: number): number[]
  /** The vector of an empty picture: `cosine` to the vector whose entries are all equal. */
  flat(version: BuiltInVersion, cosine: number): number[]
}

export function createFaces(seed: number): Faces {
  let state = seed >>> 0
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
  const gaussian = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
  const direction = (dimension: number) => scaled(Array.from({ length: dimension }, gaussian))
  function sample(of: readonly number[], cosine = 0.98): number[] {
    const noise = direction(of.length)
    const along = inner(noise, of)
    const across = scaled(noise.map((value, i) => value - along * (of[i] ?? 0)))
    return of.map((value, i) => value * cosine + (across[i] ?? 0) * Math.sqrt(1 - cosine * cosine))
  }

  return {
    person: (model = 'FACE3_3') => direction(typeof model === 'number' ? model : FACE_MODELS[model].dimension),
    sample,
    flat: (version, cosine) => sample(scaled(Array.from({ length: FACE_MODELS[version].dimension }, () => 1)), cosine),
  }
}

/** A picture between two people: `share` of the first, the rest of the second. */
export function between(first: readonly number[], second: readonly number[], share: number): number[] {
  return scaled(first.map((value, i) => value * share + (second[i] ?? 0) * (1 - share)))
}

export function feature(embedding_vector: readonly number[]): { type: string; embedding_vector: readonly number[] } {
  return { type: 'face', embedding_vector }
}

export const CHECK = 'api-key/checkApiKeyValid'
/** The six endpoints, as `post` takes them. */
export const PATHS = [
  CHECK,
  'plainEnroll',
  'plainPredict',
  'FACE3_1/enroll',
  'FACE3_1/predict',
  'FACE3_1/deleteUser',
] as const

/** A customer's program that calls area E with its key. */
export function createClient(harness: Pick<Harness, 'inject' | 'clock'>, key: string) {
  const nowSeconds = () => Math.floor(harness.clock.now().getTime() / 1000)

  const client = {
    key,

    /** The key goes in the header unless other headers are given. */
    async post(path: string, body: object, headers: Record<string, string> = { 'x-api-key': key }) {
      const response = await harness.inject({ method: 'POST', url: `/node/${path}`, headers, payload: body })
      return { http: response.statusCode, body: response.json(), headers: response.headers }
    },

    /** An envelope of this client's key, created now and for FACE3_1 unless given otherwise. */
    seal: (purpose: Envelope['purpose'], text: string, other: Partial<Envelope> = {}) =>
      sealEnvelope(key, {
        purpose,
        modelVersion: 'FACE3_1',
        issuedAt: nowSeconds(),
        id: randomUUID(),
        text,
        ...other,
      }),

    /** Pictures as the encrypted endpoints take them. */
    sealed: (purpose: Envelope['purpose'], vectors: readonly (readonly number[])[], other: Partial<Envelope> = {}) =>
      client.seal(purpose, JSON.stringify(vectors.map(feature)), other),

    async open(purpose: 'puid' | 'guid', compact: string): Promise<string> {
      return (await openEnvelope(key, compact, { purposes: [purpose] })).text
    },

    /** A reply, or a row of its list, with the ids decrypted. */
    async opened<T extends { puid: string; guid: string }>(body: T): Promise<T> {
      return { ...body, puid: await client.open('puid', body.puid), guid: await client.open('guid', body.guid) }
    },
  }
  return client
}
export type Client = ReturnType<typeof createClient>

function inner(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
}

function scaled(values: readonly number[]): number[] {
  const length = Math.sqrt(inner(values, values))
  return values.map((value) => value / length)
}
