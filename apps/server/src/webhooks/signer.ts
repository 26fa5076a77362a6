import { createHmac, createSecretKey } from 'node:crypto'
import type { SessionArea } from '@ostiary/contract'
import { apiKeyHint, SECRET_LABEL } from '@ostiary/crypto'
import type { KeyService } from '../keys/index.ts'
import { BoundedMap } from '../platform/bounded-map.ts'
import { AppError } from '../platform/errors.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import type { KeyPair } from './key-pair.ts'
import type { WebhookKeys } from './webhook-keys.ts'

/** `X-Service-Signature`, `webhook-signature` of Standard Webhooks, and `X-Service-Key`: hints at the API keys that signed. */
export interface Signatures {
  own: string
  standard: string
  keys: string
}

/** Signs with one API key, or with several. The same results as `@ostiary/crypto`, without waiting. */
export type Signer = (deliveryId: string, timestamp: string, body: Buffer) => Signatures

export function createSigner(apiKey: string): Signer {
  const key = createSecretKey(apiKey, 'utf8')
  const standardKey = createSecretKey(createHmac('sha256', key).update(SECRET_LABEL).digest())
  const keys = apiKeyHint(apiKey)
  return (deliveryId, timestamp, body) => {
    const own = createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex')
    const standard = createHmac('sha256', standardKey).update(`${deliveryId}.${timestamp}.`).update(body)
    return { own: `sha256=${own}`, standard: `v1,${standard.digest('base64')}`, keys }
  }
}

const MAX_SIGNERS = 2_000

/** Signers of the keys in use. An API key never changes, so a signer stays valid. The least recently used one is deleted first. */
export function createSigners(keys: Pick<KeyService, 'openKey'>) {
  const signers = new BoundedMap<string, Promise<Signer>>(MAX_SIGNERS)

  return (tenantId: string, keyId: string): Promise<Signer> => {
    const known = signers.touch(keyId)
    if (known) return known
    const making = keys.openKey(tenantId, keyId).then(createSigner)
    signers.set(keyId, making)
    making.catch(() => signers.delete(keyId))
    return making
  }
}
export type Signers = ReturnType<typeof createSigners>

/** Why nobody can sign a delivery: its key is not stored any more, or it is not active and no other key may sign in its place. */
export type NoSigner = 'key_removed' | 'unsigned'
/** The session's key and area: they decide which key signs. */
interface SignedFor {
  keyId: string
  area: SessionArea
}

export interface SigningDeps {
  keys: Pick<KeyService, 'openKey' | 'signingKeysOf'>
  webhookKeys: Pick<WebhookKeys, 'pairsOf'>
}

/**
 * The signer of a delivery's attempt. `X-Service-Signature` has room for one signature, so it is the first API key's;
 * `webhook-signature` has one (`v1`) for each API key and one (`v1a`) for each key pair of the tenant and mode.
 */
export function createSigning({ keys, webhookKeys }: SigningDeps) {
  const signerOf = createSigners(keys)

  async function withApiKeys({ tenantId, livemode }: TenantData, { keyId, area }: SignedFor): Promise<Chosen> {
    const ids = await keys.signingKeysOf({ tenantId, livemode, keyId, area })
    if (!ids) return 'key_removed'
    if (ids.length === 0) return 'unsigned'
    try {
      return together(await Promise.all(ids.map((id) => signerOf(tenantId, id))))
    } catch (error) {
      if (error instanceof AppError && error.fault === 'not_found') return 'key_removed'
      throw error
    }
  }

  return async (owner: TenantData, message: SignedFor): Promise<Chosen> => {
    const [signer, pairs] = await Promise.all([withApiKeys(owner, message), webhookKeys.pairsOf(owner)])
    return withPairs(signer, pairs)
  }
}
type Chosen = Signer | NoSigner

function together(signers: readonly Signer[]): Signer {
  return (...message) => {
    const signatures = signers.map((sign) => sign(...message))
    const joined = (part: 'standard' | 'keys') => signatures.map((one) => one[part]).join(' ')
    return { own: signatures[0]?.own ?? '', standard: joined('standard'), keys: joined('keys') }
  }
}

function withPairs(signer: Chosen, pairs: readonly KeyPair[]): Chosen {
  if (typeof signer === 'string' || pairs.length === 0) return signer
  return (deliveryId, timestamp, body) => {
    const { standard, ...others } = signer(deliveryId, timestamp, body)
    const message = Buffer.concat([Buffer.from(`${deliveryId}.${timestamp}.`, 'latin1'), body])
    return { ...others, standard: [standard, ...pairs.map((pair) => pair.sign(message))].join(' ') }
  }
}
