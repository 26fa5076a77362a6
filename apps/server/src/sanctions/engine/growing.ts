/** A typed array that grows while a list is read. `done` returns it in shared memory, at its exact length. */
export interface Growing<T extends Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array> {
  push(value: number): void
  readonly length: number
  at(index: number): number
  done(): T
}

type TypedArray = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array

export function growing<T extends TypedArray>(
  make: { new (buffer: SharedArrayBuffer): T; BYTES_PER_ELEMENT: number },
  start = 1024,
): Growing<T> {
  let values = shared(make, start)
  let length = 0
  return {
    push(value) {
      if (length === values.length) {
        const larger = shared(make, Math.ceil(length * 1.6) + 16)
        larger.set(values)
        values = larger
      }
      values[length++] = value
    },
    get length() {
      return length
    },
    at: (index) => values[index] as number,
    done() {
      const exact = shared(make, length)
      exact.set(values.subarray(0, length))
      values = shared(make, 0)
      return exact
    },
  }
}

export function shared<T extends TypedArray>(
  make: { new (buffer: SharedArrayBuffer): T; BYTES_PER_ELEMENT: number },
  length: number,
): T {
  return new make(new SharedArrayBuffer(length * make.BYTES_PER_ELEMENT))
}
