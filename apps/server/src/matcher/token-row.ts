import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { decodeFrame, encodeFrame } from '@ostiary/contract'
import type { KeyVault, Sealed } from '../platform/key-vault.ts'
import { newRandom } from '../platform/random.ts'
import type { TenantData } from '../platform/tenant-data.ts'

/** What the matcher keeps of a token beside the token itself. */
export interface TokenParts {
  publicKey: Uint8Array
  matcherShare: Uint8Array
  /** Makes the secret weights of the tests, and seals the token. */
  secret: Uint8Array
}

/** What a sealed row is bound to: a row that is copied to another place does not open there. */
export interface TokenPlace extends TenantData {
  /** base64url. */
  account: string
  tokenId: string
  model: number
  format: number
  /** Both coordinates, base64url. Who writes another key into the row could have probes of his own evaluated. */
  deviceKey: string
}

const SECRET_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const PARTS = { parts: 3, messageBytes: 2 }

export const newSecret = (): Uint8Array => newRandom(SECRET_BYTES)

export async function sealParts(vault: KeyVault, place: TokenPlace, parts: TokenParts): Promise<Sealed> {
  return vault.seal(encodeFrame({}, [parts.publicKey, parts.matcherShare, parts.secret]), contextOf(place))
}

/** Throws if the row was changed, or stands where it was not written. */
export async function openParts(vault: KeyVault, place: TokenPlace, sealed: Sealed): Promise<TokenParts> {
  const { parts } = decodeFrame(await vault.open(sealed, contextOf(place)), PARTS)
  const [publicKey = EMPTY, matcherShare = EMPTY, secret = EMPTY] = parts
  return { publicKey, matcherShare, secret }
}

/**
 * AES-256-GCM under a key that the row's secret gives. The master key seals the secret and not the token: after a rotation of the master
 * key a token that a browser keeps still opens.
 */
export function sealToken(secret: Uint8Array, place: TokenPlace, token: Uint8Array): Buffer {
  const nonce = newRandom(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', sealingKey(secret), nonce)
  cipher.setAAD(Buffer.from(contextOf(place)))
  return Buffer.concat([nonce, cipher.update(token), cipher.final(), cipher.getAuthTag()])
}

/** Undefined for bytes that were not sealed for this place. */
export function openToken(secret: Uint8Array, place: TokenPlace, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length <= NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(secret), sealed.subarray(0, NONCE_BYTES))
  decipher.setAAD(Buffer.from(contextOf(place)))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}

/** Ties a row to its person, who is known only after the row was sealed. */
export function sealPerson(secret: Uint8Array, place: TokenPlace, personId: string): Buffer {
  const key = derive(secret, 'ostiary/token-person/1')
  return createHmac('sha256', key)
    .update(`${contextOf(place)}/${personId}`)
    .digest()
}

export function isPersonOf(secret: Uint8Array, place: TokenPlace, row: { personId: string; personSeal: Buffer }) {
  const expected = sealPerson(secret, place, row.personId)
  return row.personSeal.length === expected.length && timingSafeEqual(row.personSeal, expected)
}

const EMPTY = new Uint8Array()
const derive = (secret: Uint8Array, label: string) => Buffer.from(hkdfSync('sha256', secret, '', label, 32))
const sealingKey = (secret: Uint8Array) => derive(secret, 'ostiary/token-seal/1')

function contextOf({ tenantId, livemode, account, tokenId, model, format, deviceKey }: TokenPlace): string {
  const mode = livemode ? 'live' : 'test'
  return `face_tokens/${tenantId}/${mode}/${account}/${tokenId}/${model}/${format}/${deviceKey}`
}
