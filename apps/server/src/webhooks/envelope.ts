import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { BoundedMap } from '../platform/bounded-map.ts'
import type { Clock } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import type { KeyVault, Sealed } from '../platform/key-vault.ts'

/**
 * Seals messages with a data key of this process and puts that key, sealed by the vault, in front of each message. So the
 * master key alone opens a message, and the vault (one day a network service) is called once an hour
 * and not for every message. A call per message took longer than both signatures of the message together.
 *
 *   1 byte format, 2 bytes length of the sealed key, the sealed key, 12 bytes nonce, the sealed message, 16 bytes tag
 */
const FORMAT = 1
const KEY_AT = 3
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_CONTEXT = 'webhook_deliveries/data-key'

const KEY_LIFE_MS = 3_600_000
/** With random nonces a key must not seal too many messages. This is far below the limit (2^32). */
const KEY_USES = 1_000_000
const MAX_OPENED = 500

interface DataKey {
  key: KeyObject
  sealed: Sealed
  usesLeft: number
  endsMs: number
}

export function createMessageSealer({ vault, clock, ids }: { vault: KeyVault; clock: Clock; ids: Ids }) {
  let current: Promise<DataKey> | undefined

  async function newKey(): Promise<DataKey> {
    const raw = ids.randomBytes(KEY_BYTES)
    const sealed = await vault.seal(raw, KEY_CONTEXT)
    return { key: createSecretKey(raw), sealed, usesLeft: KEY_USES, endsMs: clock.monotonicMs() + KEY_LIFE_MS }
  }

  async function usableKey(): Promise<DataKey> {
    current ??= newKey()
    const asked = current
    try {
      const found = await asked
      if (found.usesLeft-- > 0 && clock.monotonicMs() < found.endsMs) return found
    } catch (error) {
      if (current === asked) current = undefined
      throw error
    }
    // Several callers may find the key used up at once; the first of them creates the next.
    if (current === asked) current = undefined
    return usableKey()
  }

  return async (message: Uint8Array, context: string): Promise<Sealed> => {
    const { key, sealed } = await usableKey()
    const nonce = ids.randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    cipher.setAAD(Buffer.from(context))
    const head = Buffer.allocUnsafe(KEY_AT)
    head[0] = FORMAT
    head.writeUInt16BE(sealed.blob.length, 1)
    const body = [cipher.update(message), cipher.final()]
    const blob = Buffer.concat([head, sealed.blob, nonce, ...body, cipher.getAuthTag()])
    return { masterKeyId: sealed.masterKeyId, blob }
  }
}

export function createMessageOpener(vault: KeyVault) {
  const opened = new BoundedMap<string, Promise<KeyObject>>(MAX_OPENED)

  function keyOf(masterKeyId: string, blob: Buffer): Promise<KeyObject> {
    const name = blob.toString('latin1')
    const known = opened.get(name)
    if (known) return known
    const opening = vault.open({ masterKeyId, blob }, KEY_CONTEXT).then((raw) => createSecretKey(raw))
    opened.set(name, opening)
    opening.catch(() => opened.delete(name))
    return opening
  }

  return async ({ masterKeyId, blob }: Sealed, context: string): Promise<Buffer> => {
    if (blob[0] !== FORMAT) throw new Error('Not a sealed message')
    const nonceAt = KEY_AT + blob.readUInt16BE(1)
    const bodyAt = nonceAt + NONCE_BYTES
    if (blob.length < bodyAt + TAG_BYTES) throw new Error('Not a sealed message')
    const key = await keyOf(masterKeyId, blob.subarray(KEY_AT, nonceAt))
    return decipher(key, blob, { nonceAt, bodyAt, context })
  }
}

function decipher(
  key: KeyObject,
  blob: Buffer,
  { nonceAt, bodyAt, context }: { nonceAt: number; bodyAt: number; context: string },
): Buffer {
  const cipher = createDecipheriv('aes-256-gcm', key, blob.subarray(nonceAt, bodyAt), { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(context))
  cipher.setAuthTag(blob.subarray(-TAG_BYTES))
  const message = cipher.update(blob.subarray(bodyAt, -TAG_BYTES))
  // `update` returns the whole text; `final` checks the tag.
  cipher.final()
  return message
}
