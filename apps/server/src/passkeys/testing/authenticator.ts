/**
 * An authenticator and its browser in software: real keys and signatures, with false values wherever a test asks for them.
 * Only tests import this.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { type CBORType, encodeCBOR } from '@levischuck/tiny-cbor'

export const FLAG = { up: 0x01, uv: 0x04, be: 0x08, bs: 0x10, at: 0x40, ed: 0x80 } as const
const HONEST = FLAG.up | FLAG.uv

/** False values to send. Functions change bytes; those for `authData` and `clientData` run before the signature. */
export interface Lies {
  type?: string
  challenge?: string
  origin?: string
  rpId?: string
  /** More fields of the client data. */
  clientData?: Record<string, unknown>
  flags?: number
  counter?: number
  credentialId?: Buffer
  /** The id beside the answer. */
  outerId?: string
  publicKey?: CBORType
  format?: string
  /** The attestation statement; `signature` is the new key's signature of the answer. */
  statement?: (signature: Buffer) => Map<string, CBORType>
  userHandle?: string | null
  transports?: string[]
  authData?: (bytes: Buffer) => Buffer
  /** Changes bytes after signing, as an attacker on the network would. */
  sentAuthData?: (bytes: Buffer) => Buffer
  sentClientData?: (bytes: Buffer) => Buffer
  signature?: (bytes: Buffer) => Buffer
  /** Signs with another key than the registered one. */
  signer?: KeyObject
}

export type Kind = 'ES256' | 'EdDSA' | 'RS256' | 'ES384'

export interface Credential {
  id: Buffer
  kind: Kind
  publicKey: KeyObject
  privateKey: KeyObject
  userHandle: string
  counter: number
}

interface Settings {
  origin: string
  rpId: string
  kind?: Kind
  /** Whether it counts its uses, as security keys do. Synced passkeys do not. */
  counts?: boolean
  /** BE, or BE and BS. */
  backup?: number
}

export type Options = Record<string, unknown>

export function createAuthenticator({ origin, rpId, kind = 'ES256', counts = false, backup = 0 }: Settings) {
  const credentials: Credential[] = []

  function authDataOf(lies: Lies, counter: number, more: Buffer, extraFlags: number): Buffer {
    const hash = createHash('sha256')
      .update(lies.rpId ?? rpId)
      .digest()
    const rest = Buffer.alloc(5)
    rest.writeUInt8(lies.flags ?? HONEST | backup | extraFlags)
    rest.writeUInt32BE(lies.counter ?? counter, 1)
    const honest = Buffer.concat([hash, rest, more])
    return lies.authData?.(honest) ?? honest
  }

  function clientDataOf(type: string, options: Options, lies: Lies): Buffer {
    const { challenge = String(options.challenge), clientData = {} } = lies
    const said = {
      type: lies.type ?? type,
      challenge,
      origin: lies.origin ?? origin,
      crossOrigin: false,
      ...clientData,
    }
    return Buffer.from(JSON.stringify(said))
  }

  return {
    credentials,

    /** `navigator.credentials.create`, and `toJSON` of what it gives. */
    create(options: Options, lies: Lies = {}) {
      const pair = newPair(kind)
      const id = lies.credentialId ?? randomBytes(32)
      const user = options.user as { id: string }
      credentials.push({ id, kind, ...pair, userHandle: user.id, counter: counts ? 1 : 0 })
      const length = Buffer.from([id.length >> 8, id.length & 0xff])
      const key = Buffer.from(encodeCBOR(lies.publicKey ?? coseKeyOf(kind, pair.publicKey)))
      const attested = Buffer.concat([Buffer.alloc(16), length, id, key])
      const authData = authDataOf(lies, counts ? 1 : 0, attested, FLAG.at)
      const clientData = clientDataOf('webauthn.create', options, lies)
      const { format = 'none', statement = () => new Map<string, CBORType>() } = lies
      const object = new Map<string, CBORType>([
        ['fmt', format],
        ['attStmt', statement(signedBy(kind, lies.signer ?? pair.privateKey, authData, clientData))],
        ['authData', lies.sentAuthData?.(authData) ?? authData],
      ])
      const outerId = lies.outerId ?? id.toString('base64url')
      return {
        id: outerId,
        rawId: outerId,
        type: 'public-key',
        authenticatorAttachment: 'platform',
        clientExtensionResults: {},
        response: {
          clientDataJSON: (lies.sentClientData?.(clientData) ?? clientData).toString('base64url'),
          attestationObject: Buffer.from(encodeCBOR(object)).toString('base64url'),
          transports: lies.transports ?? ['internal', 'hybrid'],
        },
      }
    },

    /** `navigator.credentials.get` with the newest of the allowed credentials, or with the one that is named. */
    get(options: Options, lies: Lies & { use?: Credential } = {}) {
      const allowed = options.allowCredentials as { id: string }[]
      const isAllowed = (one: Credential) => allowed.some(({ id }) => id === one.id.toString('base64url'))
      const credential = lies.use ?? credentials.findLast(isAllowed)
      if (!credential) throw new Error('No credential here is among the allowed ones')
      if (counts) credential.counter++
      const authData = authDataOf(lies, credential.counter, Buffer.alloc(0), 0)
      const clientData = clientDataOf('webauthn.get', options, lies)
      const signature = signedBy(credential.kind, lies.signer ?? credential.privateKey, authData, clientData)
      const outerId = lies.outerId ?? credential.id.toString('base64url')
      return {
        id: outerId,
        rawId: outerId,
        type: 'public-key',
        authenticatorAttachment: 'platform',
        clientExtensionResults: {},
        response: {
          clientDataJSON: (lies.sentClientData?.(clientData) ?? clientData).toString('base64url'),
          authenticatorData: (lies.sentAuthData?.(authData) ?? authData).toString('base64url'),
          signature: (lies.signature?.(signature) ?? signature).toString('base64url'),
          userHandle: lies.userHandle === undefined ? credential.userHandle : lies.userHandle,
        },
      }
    },
  }
}
export type Authenticator = ReturnType<typeof createAuthenticator>

export function newPair(kind: Kind): { publicKey: KeyObject; privateKey: KeyObject } {
  if (kind === 'EdDSA') return generateKeyPairSync('ed25519')
  if (kind === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 })
  return generateKeyPairSync('ec', { namedCurve: kind === 'ES384' ? 'P-384' : 'P-256' })
}

export function coseKeyOf(kind: Kind, publicKey: KeyObject): Map<number, CBORType> {
  const { x = '', y = '', n = '', e = '' } = publicKey.export({ format: 'jwk' })
  const bytes = (text: string) => Buffer.from(text, 'base64url')
  const parts: Record<Kind, [number, CBORType][]> = {
    ES256: [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ],
    ES384: [
      [1, 2],
      [3, -35],
      [-1, 2],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ],
    EdDSA: [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, bytes(x)],
    ],
    RS256: [
      [1, 3],
      [3, -257],
      [-1, bytes(n)],
      [-2, bytes(e)],
    ],
  }
  return new Map(parts[kind])
}

export function signedBy(kind: Kind, key: KeyObject, authData: Uint8Array, clientData: Uint8Array): Buffer {
  const data = Buffer.concat([authData, createHash('sha256').update(clientData).digest()])
  return sign(kind === 'EdDSA' ? null : kind === 'ES384' ? 'sha384' : 'sha256', data, key)
}
