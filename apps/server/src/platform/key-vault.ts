import { createCipheriv, createDecipheriv, createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { takeRandom } from './random.ts'

/** Sealed bytes and the id of the master key that sealed them. The row stores both. */
export interface Sealed {
  masterKeyId: string
  blob: Buffer
}

/**
 * Seals secrets before they are stored. `context` names the row (table and key): a sealed value that is copied into
 * another row does not open there. An interface because a key management service will be the second implementation.
 */
export interface KeyVault {
  readonly currentKeyId: string
  knows(masterKeyId: string): boolean
  seal(secret: Uint8Array, context: string): Promise<Sealed>
  open(sealed: Sealed, context: string): Promise<Buffer>
}

/** Called by a reseal with the table and id of a row that no configured master key opens. The row stays as it is. */
export type OnUnreadable = (row: string) => void

const MASTER_KEY_BYTES = 32
const FORMAT = 1
const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + SALT_BYTES + NONCE_BYTES

/** The id of a master key is derived from it without revealing it, so that operators need not choose names. */
export function masterKeyId(key: Uint8Array): string {
  return createHash('sha256').update('ostiary/master-key-id/').update(key).digest('hex').slice(0, 12)
}

/**
 * Reads master keys: one per line, base64 of 32 bytes; the first seals, all open. `#` starts a comment.
 * Throws with a sentence that says what is wrong, never with a part of the key.
 */
export function parseMasterKeys(text: string): Buffer[] {
  const lines = text.split(/[\r\n]+/).map((line) => line.replace(/#.*/, '').trim())
  const keys = lines
    .filter((line) => line !== '')
    .map((line) => {
      const key = Buffer.from(line, 'base64')
      if (!/^[A-Za-z0-9+/_-]+=*$/.test(line) || key.length !== MASTER_KEY_BYTES) {
        throw new Error(`each master key must be base64 of exactly ${MASTER_KEY_BYTES} bytes`)
      }
      if (new Set(key).size < 8) throw new Error('a master key must be random')
      return key
    })
  if (keys.length === 0) throw new Error('no master key found')
  return keys
}

/** AES-256-GCM under a key derived from the master key and a salt of its own for each value. */
export function createKeyVault(masterKeys: readonly Uint8Array[]): KeyVault {
  // As key objects: OpenSSL parses bare bytes again on each use, which costs three times as much as the encryption.
  const byId = new Map(masterKeys.map((key) => [masterKeyId(key), createSecretKey(key)]))
  const [currentKeyId] = byId.keys()
  if (currentKeyId === undefined) throw new Error('A vault needs a master key')

  function derive(keyId: string, salt: Uint8Array): KeyObject {
    const key = byId.get(keyId)
    if (!key) throw new Error(`The master key ${keyId} is not among the configured ones`)
    return createSecretKey(Buffer.from(hkdfSync('sha256', key, salt, 'ostiary/vault/v1', 32)))
  }

  return {
    currentKeyId,
    knows: (id) => byId.has(id),

    async seal(secret, context) {
      const random = takeRandom(SALT_BYTES + NONCE_BYTES)
      const salt = random.subarray(0, SALT_BYTES)
      const nonce = random.subarray(SALT_BYTES)
      const cipher = createCipheriv('aes-256-gcm', derive(currentKeyId, salt), nonce)
      cipher.setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(secret), cipher.final()])
      return {
        masterKeyId: currentKeyId,
        blob: Buffer.concat([Buffer.of(FORMAT), random, body, cipher.getAuthTag()]),
      }
    },

    async open({ masterKeyId: keyId, blob }, context) {
      if (blob[0] !== FORMAT || blob.length < HEADER_BYTES + TAG_BYTES) throw new Error('Not a sealed value')
      const salt = blob.subarray(1, 1 + SALT_BYTES)
      const nonce = blob.subarray(1 + SALT_BYTES, HEADER_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', derive(keyId, salt), nonce)
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(blob.subarray(-TAG_BYTES))
      return Buffer.concat([decipher.update(blob.subarray(HEADER_BYTES, -TAG_BYTES)), decipher.final()])
    },
  }
}
