/**
 * Makes a WebAssembly module of one function from its instructions as text, flat and in the words of the standard. It knows the
 * instructions of code-scan.ts and no others. The module imports its memory as `js.memory`.
 */
type ValueType = keyof typeof VALUE_TYPES

export interface FunctionSource {
  name: string
  parameters: Readonly<Record<string, ValueType>>
  result: ValueType
  locals: Readonly<Record<string, ValueType>>
  body: string
}

const VALUE_TYPES = { i32: 0x7f, v128: 0x7b } as const
const SIMD = 0xfd
const NO_RESULT = 0x40

type Immediates = 'none' | 'local' | 'number' | 'label' | 'block' | 'lane' | 'lanes' | 'memory'

/** Opcode, and what follows it. */
const INSTRUCTIONS: Readonly<Record<string, readonly [opcode: readonly number[], follows: Immediates]>> = {
  block: [[0x02], 'block'],
  loop: [[0x03], 'block'],
  if: [[0x04], 'block'],
  end: [[0x0b], 'none'],
  br: [[0x0c], 'label'],
  br_if: [[0x0d], 'label'],
  'local.get': [[0x20], 'local'],
  'local.set': [[0x21], 'local'],
  'local.tee': [[0x22], 'local'],
  'i32.load': [[0x28], 'memory'],
  'i32.store': [[0x36], 'memory'],
  'i32.const': [[0x41], 'number'],
  'i32.le_u': [[0x4d], 'none'],
  'i32.ge_u': [[0x4f], 'none'],
  'i32.add': [[0x6a], 'none'],
  'i32.or': [[0x72], 'none'],
  'i32.shl': [[0x74], 'none'],
  'v128.load': [[SIMD, 0x00], 'memory'],
  'i8x16.shuffle': [[SIMD, 0x0d], 'lanes'],
  'i32x4.splat': [[SIMD, 0x11], 'none'],
  'i32x4.extract_lane': [[SIMD, 0x1b], 'lane'],
  'i32x4.le_s': [[SIMD, 0x3d], 'none'],
  'v128.xor': [[SIMD, 0x51], 'none'],
  'v128.any_true': [[SIMD, 0x53], 'none'],
  'i8x16.popcnt': [[SIMD, 0x62], 'none'],
  'i8x16.add': [[SIMD, 0x6e], 'none'],
  'i16x8.extadd_pairwise_i8x16_u': [[SIMD, 0x7d], 'none'],
  'i32x4.extadd_pairwise_i16x8_u': [[SIMD, 0x7f], 'none'],
  'i32x4.add': [[SIMD, 0xae, 0x01], 'none'],
}

export function assemble(source: FunctionSource): Uint8Array<ArrayBuffer> {
  const parameters = Object.values(source.parameters)
  const locals = Object.values(source.locals)
  const names = [...Object.keys(source.parameters), ...Object.keys(source.locals)]
  const code = [
    ...vector(locals.map((type) => [1, VALUE_TYPES[type]])),
    ...instructions(source.body, names),
    ...opcodeOf('end'),
  ]
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [[0x60, ...vector(parameters.map((type) => [VALUE_TYPES[type]])), 1, VALUE_TYPES[source.result]]]),
    // A memory of at least no page, whose most is not given.
    ...section(2, [[...text('js'), ...text('memory'), 0x02, 0x00, 0x00]]),
    ...section(3, [[0]]),
    ...section(7, [[...text(source.name), 0x00, 0]]),
    ...section(10, [[...unsigned(code.length), ...code]]),
  ])
}

function instructions(body: string, names: readonly string[]): number[] {
  const words = body.split(/\s+/).filter((word) => word !== '')
  const bytes: number[] = []
  const next = () => words.shift() ?? ''
  while (words.length > 0) {
    const word = next()
    const [opcode, follows] = INSTRUCTIONS[word] ?? unknown(word)
    bytes.push(...opcode)
    if (follows === 'local') bytes.push(...unsigned(indexOf(names, next())))
    if (follows === 'number') bytes.push(...signed(Number(next())))
    if (follows === 'label' || follows === 'lane') bytes.push(...unsigned(Number(next())))
    if (follows === 'block') bytes.push(NO_RESULT)
    if (follows === 'lanes') bytes.push(...words.splice(0, 16).map(Number))
    if (follows === 'memory') {
      const offset = /^offset=(\d+)$/.exec(words[0] ?? '')
      if (offset) words.shift()
      // The address may be any: 0 says nothing about its alignment.
      bytes.push(0, ...unsigned(Number(offset?.[1] ?? 0)))
    }
  }
  return bytes
}

function opcodeOf(word: string): readonly number[] {
  return (INSTRUCTIONS[word] ?? unknown(word))[0]
}

function indexOf(names: readonly string[], name: string): number {
  const index = names.indexOf(name)
  return index < 0 ? unknown(name) : index
}

function unknown(word: string): never {
  throw new SyntaxError(`Unknown word in WebAssembly text: ${word}`)
}

function section(id: number, entries: readonly (readonly number[])[]): number[] {
  const content = vector(entries)
  return [id, ...unsigned(content.length), ...content]
}

function vector(entries: readonly (readonly number[])[]): number[] {
  return [...unsigned(entries.length), ...entries.flat()]
}

function text(value: string): number[] {
  const bytes = new TextEncoder().encode(value)
  return [...unsigned(bytes.length), ...bytes]
}

/** LEB128. */
function unsigned(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return [...bytes, rest]
    bytes.push((rest & 0x7f) | 0x80)
  }
}

function signed(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest >>= 7) {
    if (rest >= -64 && rest < 64) return [...bytes, rest & 0x7f]
    bytes.push((rest & 0x7f) | 0x80)
  }
}
