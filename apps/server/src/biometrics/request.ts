import {
  DEFAULT_PLAIN_VERSION,
  ENCRYPTION_VERSION,
  type ModelVersion,
  NODE_LIMITS,
  type NodeErrorCode,
} from '@ostiary/contract'
import { isStorableText } from '../platform/json-body.ts'
import { nodeError } from './errors.ts'
import type { FaceModel } from './models.ts'
import { normalise } from './vector.ts'

/** Parses bodies of area E without a schema, because each fault has an answer of its own. Pure. */
export type Fields = Readonly<Record<string, unknown>>

/** A missing body counts as an empty object, so that the missing field gets its own answer. */
export function readFields(body: unknown, known: readonly string[]): Fields {
  const fields = body ?? {}
  if (typeof fields !== 'object' || Array.isArray(fields)) throw nodeError('NODE_INVALID_JSON', 'an object is expected')
  for (const name of Object.keys(fields)) {
    if (name !== 'api_key' && !known.includes(name))
      throw fieldError(`a field is not known here; known are ${['api_key', ...known].join(', ')}`)
  }
  return fields as Fields
}

/** The name of a model version. Whether the tenant has such a model is for declared-models.ts to say. */
export function readVersion(value: unknown, fallback: ModelVersion = DEFAULT_PLAIN_VERSION): ModelVersion {
  if (value === undefined || value === null) return fallback
  if (typeof value !== 'string') throw nodeError('NODE_VERSION_UNKNOWN')
  return value
}

export function checkEncryptionVersion(header: unknown): void {
  if (header !== undefined && header !== String(ENCRYPTION_VERSION)) throw nodeError('NODE_ENCRYPTION_VERSION')
}

/** Whether a value is missing in any of the ways in which clients write "nothing". */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

type Shape = Pick<FaceModel, 'version' | 'dimension'>

/** Turns one Feature object into a vector of length 1. */
export function readFeature(value: unknown, { version, dimension }: Shape): Float64Array {
  const { type, embedding_vector: entries } = asObject(value)
  if (typeof type !== 'string' || type.length > NODE_LIMITS.featureTypeChars)
    throw invalidFeature('type must be a text')
  if (!Array.isArray(entries)) throw invalidFeature('embedding_vector must be an array of numbers')
  if (entries.length !== dimension) {
    throw invalidFeature(`embedding_vector must have ${dimension} entries for ${version}`)
  }
  if (!entries.every(Number.isFinite)) throw invalidFeature('embedding_vector must hold finite numbers only')
  const vector = normalise(entries)
  if (!vector) throw invalidFeature('embedding_vector must not be all zero')
  return vector
}

/** Parses the content of an envelope: an array of Feature objects. */
export function readFeatureList(text: string, model: Shape): Float64Array[] {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {
    throw invalidFeature('the decrypted text is not JSON')
  }
  if (!Array.isArray(list) || list.length < 1 || list.length > NODE_LIMITS.features) {
    throw invalidFeature(`the decrypted text must be an array of 1 to ${NODE_LIMITS.features} Feature objects`)
  }
  return list.map((value) => readFeature(value, model))
}

export function requireFeatures(value: unknown, code: NodeErrorCode): unknown {
  if (isMissing(value)) throw nodeError(code)
  return value
}

/** Encrypted features are one text. */
export function requireText(value: unknown): string {
  if (typeof value !== 'string') throw invalidFeature('on this endpoint features are one encrypted text')
  return value
}

export function readMetadataId(metadata: unknown): string | undefined {
  if (metadata === undefined || metadata === null) return undefined
  if (typeof metadata !== 'object' || Array.isArray(metadata)) throw fieldError('metadata must be an object')
  if (Object.keys(metadata).some((name) => name !== 'id')) throw fieldError('metadata may hold id only')
  const { id } = metadata as { id?: unknown }
  if (id === undefined || id === null) return undefined
  if (!isText(id, NODE_LIMITS.metadataIdChars)) {
    throw fieldError(`metadata.id must be a text of 1 to ${NODE_LIMITS.metadataIdChars} characters`)
  }
  return id
}

export function readUserIdentifier(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (!isText(value, NODE_LIMITS.userIdentifierChars)) {
    throw fieldError(`user_identifier must be a text of 1 to ${NODE_LIMITS.userIdentifierChars} characters`)
  }
  return value
}

export function readCandidates(value: unknown): number {
  if (value === undefined || value === null) return 1
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > NODE_LIMITS.candidatesMax) {
    throw fieldError(`K must be a whole number from 1 to ${NODE_LIMITS.candidatesMax}`)
  }
  return value
}

/** True when ids are to be written in ROT13. */
export function readEncoding(header: unknown): boolean {
  if (header === undefined) return false
  if (header !== 'rot13') throw fieldError('x-encoding must be rot13 or absent')
  return true
}

export function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
  })
}

function isText(value: unknown, max: number): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= max && isStorableText(value)
}

function asObject(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidFeature('a Feature is an object')
  return value as Fields
}

function invalidFeature(reason: string) {
  return nodeError('NODE_FEATURES_INVALID', reason)
}

function fieldError(reason: string) {
  return nodeError('NODE_FIELD_INVALID', reason)
}
