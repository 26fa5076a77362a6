/**
 * - `more`: the answer is not complete
 * - `kept`: it is complete, and the connection can carry the next request
 * - `close`: its status is known, and the connection must be closed
 */
export type Progress = 'more' | 'kept' | 'close'

const CR = 13
const LF = 10
const SIZE_DIGITS_MAX = 8

/** What the next byte must be. */
type Expected = 'size' | 'size-lf' | 'data' | 'data-cr' | 'data-lf' | 'end-cr' | 'end-lf' | 'nothing'

/**
 * Finds the end of a chunked body (RFC 9112, section 7.1), so that the connection can be used again: many servers answer this way even
 * without content. Extensions, trailers, mistakes and a body that is too long end the connection; the status counts all the same.
 */
export class ChunkedBody {
  #expected: Expected = 'size'
  #digits = 0
  /** Of the chunk that is being read. */
  #left = 0
  #bytesLeft: number

  constructor(bytesMax: number) {
    this.#bytesLeft = bytesMax
  }

  /** Takes the bytes from `from` to before `to`. */
  read(bytes: Buffer, from: number, to: number): Progress {
    let at = from
    while (at < to) {
      if (this.#expected === 'data') at += this.#skipData(to - at)
      else if (!this.#step(bytes[at++] ?? 0)) return 'close'
      else if (this.#expected === 'nothing') return at === to ? 'kept' : 'close'
    }
    return 'more'
  }

  #skipData(available: number): number {
    const skipped = Math.min(this.#left, available)
    this.#left -= skipped
    if (this.#left === 0) this.#expected = 'data-cr'
    return skipped
  }

  /** False when the byte is not the expected one. */
  #step(byte: number): boolean {
    switch (this.#expected) {
      case 'size':
        return byte === CR ? this.#endSize() : this.#addDigit(byte)
      case 'size-lf':
        this.#expected = this.#left === 0 ? 'end-cr' : 'data'
        return byte === LF
      case 'data-cr':
        this.#expected = 'data-lf'
        return byte === CR
      case 'data-lf':
        this.#expected = 'size'
        this.#digits = 0
        return byte === LF
      case 'end-cr':
        this.#expected = 'end-lf'
        return byte === CR
      case 'end-lf':
        this.#expected = 'nothing'
        return byte === LF
      case 'data':
      case 'nothing':
        return false
    }
  }

  #addDigit(byte: number): boolean {
    const digit = Number.parseInt(String.fromCharCode(byte), 16)
    if (Number.isNaN(digit) || this.#digits === SIZE_DIGITS_MAX) return false
    this.#digits++
    this.#left = this.#left * 16 + digit
    return true
  }

  #endSize(): boolean {
    if (this.#digits === 0) return false
    this.#bytesLeft -= this.#left
    this.#expected = 'size-lf'
    return this.#bytesLeft >= 0
  }
}
