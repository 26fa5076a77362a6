/** As much CBOR as an authenticator writes: small numbers, bytes, text, and maps in the order they are given. */
export type Cbor = number | string | Uint8Array | Cbor[] | Map<number | string, Cbor>

export function encodeCbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(encodeCbor)])
  return Buffer.concat([head(5, value.size), ...[...value].flatMap((pair) => pair.map(encodeCbor))])
}

function head(major: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(major << 5) | count])
  if (count < 0x100) return Buffer.from([(major << 5) | 24, count])
  if (count < 0x10000) return Buffer.from([(major << 5) | 25, count >> 8, count & 0xff])
  throw new RangeError('Too long for an authenticator')
}
