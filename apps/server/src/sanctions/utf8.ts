import { isUtf8 } from 'node:buffer'

/** The length without a last character that may continue in the next chunk. */
export function completeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return size > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** The length of the longest prefix that is UTF-8. A binary search, because an invalid file may be one line of two megabytes. */
export function validLength(bytes: Uint8Array): number {
  if (isUtf8(bytes)) return bytes.length
  const validPart = (length: number) => bytes.subarray(0, completeLength(bytes.subarray(0, length)))
  let good = 0
  let bad = bytes.length
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (isUtf8(validPart(middle))) good = middle
    else bad = middle
  }
  return validPart(good).length
}
