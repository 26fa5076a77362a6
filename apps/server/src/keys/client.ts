import { hash, timingSafeEqual } from 'node:crypto'
import { OAUTH_LIMITS } from '@ostiary/contract'
import { BUCKET_COUNT } from '@ostiary/crypto'
import { invalid } from '../platform/errors.ts'
import type { ClientKey } from './client-keys.ts'

/** The facts that the check of a client needs. They are cached; the hash of 256 random bits reveals nothing. */
export interface ClientFacts {
  tenantId: string
  clientId: string
  livemode: boolean
  /** SHA-256 of the secret; null for a client that signs. */
  secretHash: Buffer | null
  publicKeys: readonly ClientKey[]
  status: string
  tenantStatus: string
}

export interface NewClient {
  livemode: boolean
  name: string
  /** JWKs. A client with a JWK signs and has no secret, so that the weaker way is not open beside the stronger one. */
  publicKeys: readonly unknown[]
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const BUCKET_CHARS = 2
const ID_CHARS = 26
const SECRET_CHARS = 52
/** Random bytes that `formatClientId` and `formatClientSecret` take: five bits of each are used. */
export const CLIENT_ID_BYTES = ID_CHARS
export const CLIENT_SECRET_BYTES = SECRET_CHARS
const SHAPE = new RegExp(`^ostc_(live|test)_([${ALPHABET}]{${BUCKET_CHARS}})[${ALPHABET}]{${ID_CHARS}}$`)

/** `ostc_live_`, the tenant's bucket, 130 random bits. Like an API key, it shows which database has the client. */
export function formatClientId(livemode: boolean, bucket: number, random: Uint8Array): string {
  if (random.length !== ID_CHARS) throw new RangeError(`A client id needs ${ID_CHARS} random bytes`)
  if (!Number.isInteger(bucket) || bucket < 0 || bucket >= BUCKET_COUNT) {
    throw new RangeError(`No such bucket: ${bucket}`)
  }
  const place = ALPHABET.charAt(bucket >>> 5) + ALPHABET.charAt(bucket & 31)
  return `ostc_${modeOf(livemode)}_${place}${lettersOf(random)}`
}

/** The bucket of a client's tenant, or undefined when the text cannot be a client id. */
export function bucketOfClient(clientId: string): number | undefined {
  const place = SHAPE.exec(clientId)?.[2]
  return place === undefined ? undefined : ALPHABET.indexOf(place.charAt(0)) * 32 + ALPHABET.indexOf(place.charAt(1))
}

/** 260 random bits. The prefix lets secret scanners recognise it. */
export function formatClientSecret(livemode: boolean, random: Uint8Array): string {
  if (random.length !== SECRET_CHARS) throw new RangeError(`A client secret needs ${SECRET_CHARS} random bytes`)
  return `ostcs_${modeOf(livemode)}_${lettersOf(random)}`
}

export function hashSecret(secret: string): Buffer {
  // A fast hash is enough: the secret has more than 256 random bits and cannot be guessed.
  return hash('sha256', secret, 'buffer')
}

/** Compares hashes in constant time, so that timing reveals nothing about a guess. */
export function hasSecret({ secretHash }: Pick<ClientFacts, 'secretHash'>, secret: string): boolean {
  return secretHash !== null && timingSafeEqual(secretHash, hashSecret(secret))
}

export function isUsable({ status, tenantStatus }: Pick<ClientFacts, 'status' | 'tenantStatus'>): boolean {
  return status === 'active' && tenantStatus === 'active'
}

export function checkNewClient({ name, publicKeys }: NewClient): void {
  if (name.length === 0 || name.length > OAUTH_LIMITS.clientNameChars) {
    throw invalid('/name', `must have 1 to ${OAUTH_LIMITS.clientNameChars} characters`)
  }
  if (publicKeys.length > OAUTH_LIMITS.publicKeys) {
    throw invalid('/public_keys', `must have at most ${OAUTH_LIMITS.publicKeys} keys`)
  }
}

function modeOf(livemode: boolean): 'live' | 'test' {
  return livemode ? 'live' : 'test'
}

function lettersOf(random: Uint8Array): string {
  return Array.from(random, (byte) => ALPHABET.charAt(byte & 31)).join('')
}
