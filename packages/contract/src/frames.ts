/** A JSON text and binary parts in one body: the length of the text (4 bytes), the text, and for each part its length and its bytes. */
const LENGTH_BYTES = 4

export class FrameError extends Error {}

export function encodeFrame(message: object, parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = [new TextEncoder().encode(JSON.stringify(message)), ...parts]
  const frame = new Uint8Array(all.reduce((sum, part) => sum + LENGTH_BYTES + part.length, 0))
  const view = new DataView(frame.buffer)
  let at = 0
  for (const part of all) {
    view.setUint32(at, part.length, true)
    frame.set(part, at + LENGTH_BYTES)
    at += LENGTH_BYTES + part.length
  }
  return frame
}

/** Throws a FrameError for anything that `encodeFrame` does not make with so many parts. */
export function decodeFrame(
  frame: Uint8Array,
  { parts, messageBytes }: { parts: number; messageBytes: number },
): { message: unknown; parts: Uint8Array[] } {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
  const found: Uint8Array[] = []
  let at = 0
  for (let part = 0; part <= parts; part++) {
    if (at + LENGTH_BYTES > frame.length) throw new FrameError('The frame is too short')
    const length = view.getUint32(at, true)
    at += LENGTH_BYTES
    if (length > frame.length - at) throw new FrameError('A part of the frame is too short')
    found.push(frame.subarray(at, at + length))
    at += length
  }
  if (at !== frame.length) throw new FrameError('The frame is too long')
  const [text = new Uint8Array(), ...rest] = found
  if (text.length > messageBytes) throw new FrameError('The text of the frame is too long')
  try {
    return { message: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(text)), parts: rest }
  } catch {
    throw new FrameError('The text of the frame is not JSON')
  }
}
