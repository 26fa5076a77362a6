import {
  FORMAT,
  HEADER_BYTES,
  KEY_SHARE_BYTES,
  MATCHER_SHARE_BYTES,
  MODEL_FACE3_3,
  PROBE_BYTES,
  PUBLIC_KEY_BYTES,
  RING_BYTES,
  TOKEN_BYTES,
  TOKEN_ID_BYTES,
} from './parameters.ts'

/** Bytes that are not what they should be: length, letters, format, model or token id. */
export class TokenFormatError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'TokenFormatError'
  }
}

/** The two letters each kind of message begins with. */
const LETTERS = {
  token: 'OT',
  'public key': 'OK',
  probe: 'OP',
  'matcher share': 'OM',
  'key share': 'OS',
  evaluation: 'OE',
} as const
export type Kind = keyof typeof LETTERS

const LENGTHS: Record<Exclude<Kind, 'evaluation'>, number> = {
  token: TOKEN_BYTES,
  'public key': PUBLIC_KEY_BYTES,
  probe: PROBE_BYTES,
  'matcher share': MATCHER_SHARE_BYTES,
  'key share': KEY_SHARE_BYTES,
}
export const MODEL_OFFSET = 3
const ID_OFFSET = HEADER_BYTES - TOKEN_ID_BYTES

/** New bytes with their header written. */
export function createMessage(kind: Kind, tokenId: Uint8Array, length: number): Uint8Array {
  if (tokenId.length !== TOKEN_ID_BYTES) throw new TokenFormatError(`A token id has ${TOKEN_ID_BYTES} bytes`)
  const bytes = new Uint8Array(length)
  bytes.set(new TextEncoder().encode(LETTERS[kind]))
  bytes[2] = FORMAT
  bytes[MODEL_OFFSET] = MODEL_FACE3_3
  bytes.set(tokenId, ID_OFFSET)
  return bytes
}

/** Why bytes are not of this kind, in words; undefined if they are. */
export function formatFault(kind: Kind, bytes: Uint8Array, length: number): string | undefined {
  if (bytes.length !== length) return `A ${kind} has ${length} bytes, not ${bytes.length}`
  const letters = String.fromCharCode(bytes[0] ?? 0, bytes[1] ?? 0)
  if (letters !== LETTERS[kind]) return `These bytes are not a ${kind}`
  if (bytes[2] !== FORMAT) return `The ${kind} has format ${bytes[2]}, which this version does not read`
  if (bytes[MODEL_OFFSET] !== MODEL_FACE3_3) return `The ${kind} is of a face model that this version does not read`
  return undefined
}

/** Throws unless all are well-formed and belong to the same token. */
export function checkMessages(messages: Partial<Record<Exclude<Kind, 'evaluation'>, Uint8Array>>): void {
  let tokenId: Uint8Array | undefined
  for (const [kind, bytes] of Object.entries(messages) as [Exclude<Kind, 'evaluation'>, Uint8Array][]) {
    const fault = formatFault(kind, bytes, LENGTHS[kind])
    if (fault) throw new TokenFormatError(fault)
    tokenId ??= idBytes(bytes)
    if (!isSame(tokenId, idBytes(bytes))) throw new TokenFormatError(`The ${kind} belongs to another token`)
  }
}

/** The id in a token, public key, probe or share. */
export function tokenIdOf(bytes: Uint8Array): Uint8Array {
  const known = Object.entries(LENGTHS) as [Exclude<Kind, 'evaluation'>, number][]
  if (!known.some(([kind, length]) => formatFault(kind, bytes, length) === undefined)) {
    throw new TokenFormatError('These bytes are not a token, public key, probe or share')
  }
  return idBytes(bytes).slice()
}

/**
 * What is wrong with a probe before anything is evaluated. `transparent`: a part that carries the secret is all zero, so that
 * its evaluation would show more of the shares than an honest one.
 */
export function probeFault(probe: Uint8Array, tokenId: Uint8Array): 'malformed' | 'transparent' | undefined {
  if (formatFault('probe', probe, PROBE_BYTES) || !isSame(idBytes(probe), tokenId)) return 'malformed'
  for (let at = HEADER_BYTES + RING_BYTES; at < PROBE_BYTES; at += RING_BYTES) {
    if (probe.subarray(at, at + RING_BYTES).every((byte) => byte === 0)) return 'transparent'
  }
  return undefined
}

export const idBytes = (bytes: Uint8Array): Uint8Array => bytes.subarray(ID_OFFSET, HEADER_BYTES)

export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at])
}
