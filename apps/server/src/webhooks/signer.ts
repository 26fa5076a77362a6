import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { SECRET_LABEL } from '@ostiary/crypto'
import type { KeyService } from '../keys/index.ts'
import { BoundedMap } from '../platform/bounded-map.ts'

/** `X-Service-Signature`, and `webhook-signature` of Standard Webhooks. */
export interface Signatures {
  own: string
  standard: string
}

/** Signs with one API key. The same results as `@ostiary/crypto`, for many messages at once. */
export type Signer = (deliveryId: string, timestamp: string, body: Buffer) => Signatures

export function createSigner(apiKey: string): Signer {
  const key = createSecretKey(apiKey, 'utf8')
  const standardKey = createSecretKey(hmac(key, Buffer.from(SECRET_LABEL)).digest())
  return (deliveryId, timestamp, body) => {
    // One buffer for both signatures: our signed text is the end of the standard's. Each call into the crypto library costs time.
    const head = `${deliveryId}.`
    const all = Buffer.concat([Buffer.from(`${head}${timestamp}.`, 'latin1'), body])
    return {
      own: `sha256=${hmac(key, all.subarray(head.length)).digest('hex')}`,
      standard: `v1,${hmac(standardKey, all).digest('base64')}`,
    }
  }
}

function hmac(key: KeyObject, message: Buffer) {
  return createHmac('sha256', key).update(message)
}

const MAX_SIGNERS = 2_000

/** Signers of the keys in use. An API key never changes, so a signer stays valid. The least recently used one is deleted first. */
export function createSigners(keys: Pick<KeyService, 'openKey'>) {
  const signers = new BoundedMap<string, Signer | Promise<Signer>>(MAX_SIGNERS)

  function make(tenantId: string, keyId: string): Promise<Signer> {
    const making = keys.openKey(tenantId, keyId).then(createSigner)
    making.then(
      (signer) => signers.set(keyId, signer),
      () => signers.delete(keyId),
    )
    signers.set(keyId, making)
    return making
  }

  /** A promise only while the key is being opened: a promise per message would cost more than the lookup. */
  return (tenantId: string, keyId: string): Signer | Promise<Signer> => signers.touch(keyId) ?? make(tenantId, keyId)
}
export type Signers = ReturnType<typeof createSigners>
