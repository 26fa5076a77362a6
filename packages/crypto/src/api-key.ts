/**
 * The shape of an API key:
 *
 *   ost_test_ 7k  <52 characters>  <6 characters>
 *   |         |   |                checksum: CRC-32 of everything before it
 *   |         |   256 random bits
 *   |         bucket of the tenant (10 bits): a router finds the database without a look-up
 *   mode: test or live
 *
 * With the checksum anyone can recognise a mistyped or truncated key, and a secret scanner a real one, without the server.
 * It is no protection: the secret is the random part.
 */
export const BUCKET_COUNT = 1024

export interface ApiKeyParts {
  livemode: boolean
  bucket: number
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const RANDOM_BYTES = 32
const BUCKET_CHARS = 2
const RANDOM_CHARS = 52
const CHECKSUM_CHARS = 6
const SHAPE = new RegExp(`^ost_(live|test)_[${ALPHABET}]{${BUCKET_CHARS + RANDOM_CHARS + CHECKSUM_CHARS}}$`)

export function formatApiKey({ livemode, bucket }: ApiKeyParts, random: Uint8Array): string {
  if (random.length !== RANDOM_BYTES) throw new RangeError(`An API key needs ${RANDOM_BYTES} random bytes`)
  if (!Number.isInteger(bucket) || bucket < 0 || bucket >= BUCKET_COUNT)
    throw new RangeError(`No such bucket: ${bucket}`)
  const body = `ost_${livemode ? 'live' : 'test'}_${encodeBits(bucket, 10)}${encodeBytes(random)}`
  return body + checksum(body)
}

/** Reads mode and bucket of a key, or undefined when the text cannot be a key. */
export function parseApiKey(text: string): ApiKeyParts | undefined {
  if (!SHAPE.test(text)) return undefined
  const body = text.slice(0, -CHECKSUM_CHARS)
  if (checksum(body) !== text.slice(-CHECKSUM_CHARS)) return undefined
  const start = 'ost_live_'.length
  const bucket = ALPHABET.indexOf(text.charAt(start)) * 32 + ALPHABET.indexOf(text.charAt(start + 1))
  return { livemode: text.startsWith('ost_live_'), bucket }
}

/**
 * What a webhook says about the key that signed it (`X-Service-Key`): mode, bucket and the last four characters, as in
 * `ost_test_7k...9f2c`. It tells a receiver which of its keys to look for when no signature matches; it proves nothing.
 */
export function apiKeyHint(apiKey: string): string {
  return `${apiKey.slice(0, HINT_CHARS)}...${apiKey.slice(-4)}`
}
const HINT_CHARS = 'ost_live_'.length + BUCKET_CHARS

/** The form in which a key may be shown after its creation. */
export function maskApiKey(prefix: string, lastFour: string): string {
  return `${prefix}…${lastFour}`
}

function encodeBits(value: number, bits: number): string {
  let text = ''
  for (let shift = bits - 5; shift >= 0; shift -= 5) text += ALPHABET.charAt(Math.floor(value / 2 ** shift) % 32)
  return text
}

function encodeBytes(bytes: Uint8Array): string {
  let text = ''
  let held = 0
  let heldBits = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    heldBits += 8
    while (heldBits >= 5) {
      heldBits -= 5
      text += ALPHABET.charAt((held >>> heldBits) & 31)
      held &= (1 << heldBits) - 1
    }
  }
  return heldBits > 0 ? text + ALPHABET.charAt((held << (5 - heldBits)) & 31) : text
}

function checksum(text: string): string {
  let crc = 0xffffffff
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  // Six characters of five bits hold the 32 bits: the first character carries only two.
  return encodeBits((crc ^ 0xffffffff) >>> 0, CHECKSUM_CHARS * 5)
}
