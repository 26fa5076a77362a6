/** Writes the wire format of Protocol Buffers: the few kinds of field that an ONNX file has. */
export interface Message {
  int(field: number, value: number): Message
  text(field: number, value: string): Message
  bytes(field: number, value: Uint8Array): Message
  message(field: number, value: Message): Message
  finish(): Uint8Array
}

const VARINT = 0
const LENGTH = 2

export function createMessage(): Message {
  const parts: Uint8Array[] = []
  const tag = (field: number, kind: number) => parts.push(varint(field * 8 + kind))
  const written: Message = {
    int(field, value) {
      tag(field, VARINT)
      parts.push(varint(value))
      return written
    },
    text: (field, value) => written.bytes(field, new TextEncoder().encode(value)),
    bytes(field, value) {
      tag(field, LENGTH)
      parts.push(varint(value.length), value)
      return written
    },
    message: (field, value) => written.bytes(field, value.finish()),
    finish: () => join(parts),
  }
  return written
}

/** Seven bits to a byte, the lowest first. A negative number is written as its 64-bit two's complement. */
export function varint(value: number): Uint8Array {
  let rest = BigInt.asUintN(64, BigInt(value))
  const out: number[] = []
  do {
    const low = Number(rest & 0x7fn)
    rest >>= 7n
    out.push(rest > 0n ? low | 0x80 : low)
  } while (rest > 0n)
  return Uint8Array.from(out)
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
