import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { SECRET_LABEL } from '@ostiary/crypto'
import type { KeyService } from '../keys/index.ts'

/** Signs with one API key. The same results as `@ostiary/crypto`, for many messages at once. */
export interface Signer {
  /** `X-Service-Signature`. */
  sign(timestamp: string, body: Buffer): string
  /** `webhook-signature` of Standard Webhooks. */
  signStandard(deliveryId: string, timestamp: string, body: Buffer): string
}

export function createSigner(apiKey: string): Signer {
  const key = createSecretKey(apiKey, 'utf8')
  const standardKey = createSecretKey(hmac(key, SECRET_LABEL).digest())
  return {
    sign: (timestamp, body) => `sha256=${hmac(key, `${timestamp}.`).update(body).digest('hex')}`,
    signStandard: (id, timestamp, body) =>
      `v1,${hmac(standardKey, `${id}.${timestamp}.`).update(body).digest('base64')}`,
  }
}

function hmac(key: KeyObject, head: string) {
  return createHmac('sha256', key).update(head)
}

const MAX_SIGNERS = 2_000

/** Signers of the keys in use. An API key never changes, so what is remembered stays right; what is not used goes. */
export function createSigners(keys: Pick<KeyService, 'openKey'>) {
  const signers = new Map<string, Promise<Signer>>()
  return (tenantId: string, keyId: string): Promise<Signer> => {
    const known = signers.get(keyId)
    signers.delete(keyId)
    const signer = known ?? keys.openKey(tenantId, keyId).then(createSigner)
    signers.set(keyId, signer)
    if (!known) {
      signer.catch(() => signers.delete(keyId))
      const [oldest] = signers.keys()
      if (signers.size > MAX_SIGNERS && oldest !== undefined) signers.delete(oldest)
    }
    return signer
  }
}
export type Signers = ReturnType<typeof createSigners>
