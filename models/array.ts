/** Arrays of numbers as weight files hold them: kept in the type they were stored in, so that a net stays small. */
export type Stored =
  | { type: 'float32'; shape: readonly number[]; values: Float32Array }
  /** The 16 bits of each half-precision number. */
  | { type: 'float16'; shape: readonly number[]; values: Uint16Array }
  | { type: 'int32'; shape: readonly number[]; values: Int32Array }
  /** Stands for `byte * scale + min`. */
  | { type: 'uint8'; shape: readonly number[]; values: Uint8Array; scale: number; min: number }

export function float32(values: readonly number[], shape: readonly number[] = [values.length]): Stored {
  return { type: 'float32', shape, values: Float32Array.from(values) }
}

export function countOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1)
}

export function reshape<T extends Stored>(array: T, shape: readonly number[]): T {
  if (countOf(shape) !== array.values.length) throw new Error(`${array.values.length} numbers have no shape [${shape}]`)
  return { ...array, shape }
}

/** Dimension `i` of the result is dimension `order[i]` of the array, as in NumPy and ONNX. */
export function transpose<T extends Stored>(array: T, order: readonly number[]): T {
  const shape = order.map((from) => array.shape[from] ?? 1)
  const strides = stridesOf(array.shape)
  const steps = order.map((from) => strides[from] ?? 0)
  const values = array.values.slice()
  const index = shape.map(() => 0)
  let from = 0
  for (let to = 0; to < values.length; to++) {
    values[to] = array.values[from] ?? 0
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const next = (index[axis] ?? 0) + 1
      from += steps[axis] ?? 0
      if (next < (shape[axis] ?? 1)) {
        index[axis] = next
        break
      }
      index[axis] = 0
      from -= next * (steps[axis] ?? 0)
    }
  }
  return { ...array, shape, values }
}

function stridesOf(shape: readonly number[]): number[] {
  return shape.map((_, axis) => countOf(shape.slice(axis + 1)))
}

/** Converts full precision to half precision: half the bytes, for weights that do not need more. */
export function toHalf(array: Stored): Stored {
  if (array.type !== 'float32') return array
  return { type: 'float16', shape: array.shape, values: Uint16Array.from(array.values, halfBits) }
}

const view = new DataView(new ArrayBuffer(4))

/** The nearest half-precision number, ties to the even one, as its 16 bits. */
export function halfBits(value: number): number {
  view.setFloat32(0, value)
  const bits = view.getUint32(0)
  const sign = (bits >>> 16) & 0x8000
  const magnitude = bits & 0x7fffffff
  if (magnitude > 0x7f800000) return sign | 0x7e00
  // From halfway between the largest half (65504) and 65536 on, the nearest is infinity.
  if (magnitude >= 0x477ff000) return sign | 0x7c00
  // Below the smallest normal half, the steps are 2^-24 each.
  if (magnitude < 0x38800000) return sign | roundToEven(Math.abs(value) * 2 ** 24)
  const shifted = magnitude - 0x38000000
  return sign | ((shifted + 0xfff + ((shifted >>> 13) & 1)) >>> 13)
}

function roundToEven(value: number): number {
  const low = Math.floor(value)
  const rest = value - low
  return rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low
}

export function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >>> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

/** The numbers an array stands for. */
export function numbersOf(array: Stored): number[] {
  switch (array.type) {
    case 'float16':
      return Array.from(array.values, halfValue)
    case 'uint8':
      return Array.from(array.values, (byte) => byte * array.scale + array.min)
    default:
      return Array.from(array.values)
  }
}
