import { LIMITS } from '@ostiary/contract'
import { AppError } from './errors.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
// Most bodies contain none of these and need no further check. An escape can spell any character, a long exponent infinity.
const NEEDS_A_LOOK = /\\u|__proto__|"constructor"|[eE]\+?\d{3}/

/** Decodes bytes to text. Invalid UTF-8 is refused, never replaced: the stored text must equal the sent one. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw invalidJson('The body is not valid UTF-8')
  }
}

/** Parses a JSON body; refuses deep nesting, prototype keys and text that cannot be stored. */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw invalidJson('The body is empty')
  if (!isShallow(bytes, LIMITS.jsonDepth))
    throw invalidJson(`The body is nested deeper than ${LIMITS.jsonDepth} levels`)
  const text = decodeText(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalidJson('The body is not valid JSON')
  }
  if (NEEDS_A_LOOK.test(text)) refuseUnsafe(value)
  return value
}

/**
 * The text of a member of the outermost object, as it was sent: a JavaScript value does not keep the order of numeric keys,
 * nor numbers that no double can hold. `bytes` must have passed `parseJsonBody`; of duplicate members the last counts, as there.
 */
export function memberTextOf(bytes: Buffer, name: string): string | undefined {
  let found: string | undefined
  let depth = 0
  let key: string | undefined
  let start = -1
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) {
      const end = endOfString(bytes, i)
      if (depth === 1 && start < 0) key = bytes.toString('utf8', i, end + 1)
      i = end
    } else if (byte === COLON) {
      if (depth === 1 && start < 0) start = i + 1
    } else if (byte === 0x7b || byte === 0x5b) depth++
    else if (byte === 0x7d || byte === 0x5d || byte === COMMA) {
      if (depth === 1 && start >= 0 && isName(key, name)) found = bytes.toString('utf8', start, i).trim()
      if (depth === 1) start = -1
      if (byte !== COMMA) depth--
    }
  }
  return found
}

/** A name may be written with escapes. */
function isName(quoted: string | undefined, name: string): boolean {
  if (quoted === undefined) return false
  return quoted.includes('\\') ? JSON.parse(quoted) === name : quoted === `"${name}"`
}

function endOfString(bytes: Uint8Array, start: number): number {
  let i = start + 1
  while (i < bytes.length && bytes[i] !== QUOTE) i += bytes[i] === BACKSLASH ? 2 : 1
  return i
}

export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** Counts open brackets outside strings in the bytes, so that a body of a million brackets never reaches the parser. */
function isShallow(bytes: Uint8Array, limit: number): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (inString) {
      if (byte === BACKSLASH) i++
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > limit) return false
    } else if (byte === 0x7d || byte === 0x5d) depth--
  }
  return true
}

/** Walks a value of bounded depth and refuses prototype keys, and texts and numbers that cannot be stored. */
function refuseUnsafe(value: unknown): void {
  if (typeof value === 'string') {
    if (!isStorableText(value)) throw invalidJson('The body holds a NUL character or half of a surrogate pair')
    return
  }
  if (typeof value === 'number' && !Number.isFinite(value))
    throw invalidJson('The body holds a number that is too large')
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__' || (key === 'constructor' && hasPrototype(inner)))
      throw invalidJson('The body uses a reserved key')
    refuseUnsafe(key)
    refuseUnsafe(inner)
  }
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

function invalidJson(message: string): AppError {
  return new AppError('invalid_request', 'INVALID_JSON', message)
}
