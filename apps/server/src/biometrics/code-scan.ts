import { assemble } from './wasm-text.ts'

/** What we use of WebAssembly: the types of Node do not name it. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
  /** The numbers are pages of 65,536 bytes. */
  grow(pages: number): number
}
interface Wasm {
  Memory: new (pages: { initial: number; maximum: number }) => WasmMemory
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { exports: Readonly<Record<string, unknown>> }
}
const wasm = (globalThis as unknown as { WebAssembly: Wasm }).WebAssembly

export const createMemory = (initial: number, maximum: number): WasmMemory => new wasm.Memory({ initial, maximum })

/** A code: one bit for each dimension of a search copy. */
export const CODE_BYTES = 64
/**
 * So many codes stand together in a block: first their first halves, then their second halves. Most strangers differ
 * enough in the first half alone, and reading memory is what takes the time.
 */
export const CODES_PER_BLOCK = 16_384
export const HALF_BYTES = CODE_BYTES / 2
export const SECOND_HALVES_AT = CODES_PER_BLOCK * HALF_BYTES
/** A scan looks at so many codes at a time; what it finds beyond the last code is to be ignored. */
export const CODES_AT_A_TIME = 4

/** The differing bits of half a code, as four numbers whose sum is the distance. */
function differingBits(code: number, half: 0 | 1): string {
  const part = (n: 0 | 1) => {
    const offset = half * SECOND_HALVES_AT + code * HALF_BYTES + n * 16
    return `local.get $code v128.load offset=${offset} local.get $probe${half * 2 + n} v128.xor i8x16.popcnt`
  }
  // Each byte counts at most 2 × 8 differing bits: their sum fits into a byte.
  return `${part(0)} ${part(1)} i8x16.add
    i16x8.extadd_pairwise_i8x16_u i32x4.extadd_pairwise_i16x8_u local.set $sums${code}`
}

/** Lanes of two vectors of four 32-bit numbers: 0 to 3 are the first's, 4 to 7 the second's. */
const lanes = (...chosen: number[]) =>
  `i8x16.shuffle ${chosen.flatMap((lane) => [0, 1, 2, 3].map((byte) => lane * 4 + byte)).join(' ')}`

/** Adds lanes 0 and 2, and lanes 1 and 3, of two vectors: (a, b) becomes (a02, b02, a13, b13). */
const addHalves = (a: string, b: string) =>
  `local.get ${a} local.get ${b} ${lanes(0, 4, 1, 5)} local.get ${a} local.get ${b} ${lanes(2, 6, 3, 7)} i32x4.add`

const writeIfNear = (code: number) => `
  local.get $distances i32x4.extract_lane ${code} local.tee $distance local.get $most i32.le_u
  if
    local.get $hit
    local.get $distance i32.const 16 i32.shl local.get $index i32.const ${code} i32.add i32.or
    i32.store
    local.get $hit i32.const 4 i32.add local.set $hit
  end`

/** The distances of four halves, from their sums, on the stack. */
const FOUR_DISTANCES = `
  ${addHalves('$sums0', '$sums1')} local.set $sums0
  ${addHalves('$sums2', '$sums3')} local.set $sums2
  local.get $sums0 local.get $sums2 ${lanes(0, 1, 4, 5)}
  local.get $sums0 local.get $sums2 ${lanes(2, 3, 6, 7)} i32x4.add`

/**
 * scan(code, count, probe, sieve, most, list, hit) compares the first `count` codes of a block with the probe, in two passes. The first one reads the first
 * halves, and lists every four codes of which one differs in at most `sieve` bits. The second one compares those as a whole, and writes for each code that
 * differs in at most `most` bits a number at `hit`: distance × 65,536 + index. Returns the address after the last number. All addresses are in the
 * imported memory; `list` needs room for a number for every four codes. In one pass, each of the rare looks at a second half would wait for the memory.
 */
const SCAN = `
  ${[0, 1, 2, 3].map((n) => `local.get $probe v128.load offset=${n * 16} local.set $probe${n}`).join('\n  ')}
  local.get $sieve i32x4.splat local.set $sieves
  local.get $code local.set $block
  local.get $list local.set $end
  block
    loop
      local.get $index local.get $count i32.ge_u br_if 1
      ${[0, 1, 2, 3].map((code) => differingBits(code, 0)).join('\n      ')}
      local.get $end local.get $index i32.store
      local.get $end
      ${FOUR_DISTANCES} local.get $sieves i32x4.le_s v128.any_true i32.const 2 i32.shl
      i32.add local.set $end
      local.get $code i32.const ${CODES_AT_A_TIME * HALF_BYTES} i32.add local.set $code
      local.get $index i32.const ${CODES_AT_A_TIME} i32.add local.set $index
      br 0
    end
  end
  block
    loop
      local.get $list local.get $end i32.ge_u br_if 1
      local.get $list i32.load local.tee $index
      i32.const ${Math.log2(HALF_BYTES)} i32.shl local.get $block i32.add local.set $code
      ${[0, 1, 2, 3].map((code) => differingBits(code, 0)).join('\n      ')}
      ${FOUR_DISTANCES} local.set $distances
      ${[0, 1, 2, 3].map((code) => differingBits(code, 1)).join('\n      ')}
      ${FOUR_DISTANCES} local.get $distances i32x4.add local.set $distances
      ${[0, 1, 2, 3].map(writeIfNear).join('')}
      local.get $list i32.const 4 i32.add local.set $list
      br 0
    end
  end
  local.get $hit`

export type Scan = (
  ...parameters: [code: number, count: number, probe: number, sieve: number, most: number, list: number, hit: number]
) => number

/** WebAssembly, because its vectors of 16 bytes count differing bits some ten times faster than JavaScript. */
export function createScan(memory: WasmMemory): Scan {
  const bytes = assemble({
    name: 'scan',
    parameters: { $code: 'i32', $count: 'i32', $probe: 'i32', $sieve: 'i32', $most: 'i32', $list: 'i32', $hit: 'i32' },
    result: 'i32',
    locals: {
      $index: 'i32',
      $block: 'i32',
      $end: 'i32',
      $distance: 'i32',
      $sieves: 'v128',
      $distances: 'v128',
      ...Object.fromEntries(
        [0, 1, 2, 3].flatMap(
          (n) =>
            [
              [`$probe${n}`, 'v128'],
              [`$sums${n}`, 'v128'],
            ] as const,
        ),
      ),
    },
    body: SCAN,
  })
  const { exports } = new wasm.Instance(new wasm.Module(bytes), { js: { memory } })
  return exports.scan as Scan
}
