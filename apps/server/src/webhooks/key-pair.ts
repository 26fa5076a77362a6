import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { WebhookPublicKey } from '@ostiary/contract'

/** A key pair that signs webhooks. The public half is computed from the private one. */
export interface KeyPair {
  publicKey: WebhookPublicKey
  /** One signature of `webhook-signature`, over `<id>.<timestamp>.<body>`. */
  sign(message: Buffer): string
  /** The 32 bytes that are sealed and stored. */
  exportSecret(): Buffer
}

export function newKeyPair(): KeyPair {
  return keyPairOf(generateKeyPairSync('ed25519').privateKey)
}

export function openKeyPair(secret: Buffer): KeyPair {
  if (secret.length !== SECRET_BYTES) throw new Error('Not the private half of a key pair')
  return keyPairOf(createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, secret]), format: 'der', type: 'pkcs8' }))
}

const SECRET_BYTES = 32
/** What stands before the 32 bytes in PKCS #8 of Ed25519 (RFC 8410, section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

function keyPairOf(privateKey: KeyObject): KeyPair {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return {
    publicKey: { kty: 'OKP', crv: 'Ed25519', x, kid: thumbprintOf(x), use: 'sig', alg: 'EdDSA' },
    sign: (message) => `v1a,${sign(null, message, privateKey).toString('base64')}`,
    exportSecret: () => privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-SECRET_BYTES),
  }
}

/** RFC 7638: members in the order of their names, without spaces. */
function thumbprintOf(x: string): string {
  return createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url')
}
