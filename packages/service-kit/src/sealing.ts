import { createCipheriv, createDecipheriv, createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'

/** Sealed bytes and the id of the master key that sealed them. The row stores both. */
export interface Sealed {
  masterKeyId: string
  blob: Buffer
}

/** What differs between services, so that the same master key would still be two keys, and its id two ids. */
export interface SealerOptions {
  /** Text before the master key in the hash that is its id. */
  keyIdPrefix: string
  /** `info` of the keys that are derived from the master key. */
  derivedFor: string
  randomBytes(size: number): Buffer
}

export type Sealer = ReturnType<typeof createSealer>

const MASTER_KEY_BYTES = 32
const FORMAT = 1
const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + SALT_BYTES + NONCE_BYTES

/** The id of a master key is derived from it without revealing it, so that operators need not choose names. */
export function masterKeyId(key: Uint8Array, prefix: string): string {
  return createHash('sha256').update(prefix).update(key).digest('hex').slice(0, 12)
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
      if (!/^[A-Za-z0-9+/_-]+=*$/.test(line) || key.length !== MASTER_KEY_BYTES)
        throw new Error(`each master key must be base64 of exactly ${MASTER_KEY_BYTES} bytes`)
      if (new Set(key).size < 8) throw new Error('a master key must be random')
      return key
    })
  if (keys.length === 0) throw new Error('no master key found')
  return keys
}

/**
 * AES-256-GCM under a key derived from the master key and a salt of its own for each value. `context` names the row: a sealed value
 * that is copied into another row does not open there.
 */
export function createSealer(
  masterKeys: readonly Uint8Array[],
  { keyIdPrefix, derivedFor, randomBytes }: SealerOptions,
) {
  // As key objects: OpenSSL parses bare bytes again on each use, which costs three times as much as the encryption.
  const byId = new Map(masterKeys.map((key) => [masterKeyId(key, keyIdPrefix), createSecretKey(key)]))
  const [currentKeyId] = byId.keys()
  if (currentKeyId === undefined) throw new Error('A vault needs a master key')

  function derive(keyId: string, salt: Uint8Array): KeyObject {
    const key = byId.get(keyId)
    if (!key) throw new Error(`The master key ${keyId} is not among the configured ones`)
    return createSecretKey(Buffer.from(hkdfSync('sha256', key, salt, derivedFor, 32)))
  }

  return {
    currentKeyId,
    knows: (keyId: string) => byId.has(keyId),

    seal(secret: Uint8Array, context: string): Sealed {
      const random = randomBytes(SALT_BYTES + NONCE_BYTES)
      const key = derive(currentKeyId, random.subarray(0, SALT_BYTES))
      const cipher = createCipheriv('aes-256-gcm', key, random.subarray(SALT_BYTES))
      cipher.setAAD(Buffer.from(context))
      const body = [cipher.update(secret), cipher.final(), cipher.getAuthTag()]
      return { masterKeyId: currentKeyId, blob: Buffer.concat([Buffer.of(FORMAT), random, ...body]) }
    },

    /** Throws for a value that was changed, or sealed for another row or by an unknown key. */
    open({ masterKeyId: keyId, blob }: Sealed, context: string): Buffer {
      if (blob[0] !== FORMAT || blob.length < HEADER_BYTES + TAG_BYTES) throw new Error('Not a sealed value')
      const key = derive(keyId, blob.subarray(1, 1 + SALT_BYTES))
      const decipher = createDecipheriv('aes-256-gcm', key, blob.subarray(1 + SALT_BYTES, HEADER_BYTES))
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(blob.subarray(-TAG_BYTES))
      return Buffer.concat([decipher.update(blob.subarray(HEADER_BYTES, -TAG_BYTES)), decipher.final()])
    },
  }
}
