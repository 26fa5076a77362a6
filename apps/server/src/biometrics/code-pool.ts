import {
  CODE_BYTES,
  CODES_PER_BLOCK,
  createMemory,
  createScan,
  HALF_BYTES,
  SECOND_HALVES_AT,
  type WasmMemory,
} from './code-scan.ts'

/** A number and a code: how they come from the database. */
export const RECORD_BYTES = 8 + CODE_BYTES

const PAGE = 65_536
/** A block of codes, with their numbers behind them, is 17 pages of WebAssembly's memory. */
const SEQS_AT = CODES_PER_BLOCK * CODE_BYTES
export const BLOCK_BYTES = SEQS_AT + CODES_PER_BLOCK * 4
/** The first page holds the probes of one scan and its list, the second what the scan finds in one block. */
const LIST_AT = PAGE / 2
const PROBES_PER_PASS = LIST_AT / CODE_BYTES
const HITS_AT = PAGE
const FIRST_BLOCK_AT = 2 * PAGE
const BITS = CODE_BYTES * 8
const HALVES = [0, SECOND_HALVES_AT]
const LARGEST_SEQ = 2 ** 32 - 1

interface Block {
  at: number
  count: number
}

export interface CodeProbe {
  code: Uint8Array
  /** Codes whose first half differs in more bits are left out. */
  sieve: number
  /** How many of the nearest are wanted. */
  wanted: number
  /** None that differs in so many bits more than the nearest one. */
  within: number
}

/** The codes of one space, in the order of their numbers. */
export interface CodeTable {
  /** Adds records with rising numbers. Numbers that are not above the last one are skipped. False when the memory is full. */
  add(records: Uint8Array): boolean
  remove(seqs: readonly number[]): void
  /** Removes every code after `from` and up to `to` whose number is not named. */
  retain(from: number, to: number, seqs: readonly number[]): void
  /** For each probe the numbers of the nearest codes, nearest first. */
  scan(probes: readonly CodeProbe[]): number[][]
  count(): number
  drop(): void
}

export interface CodePool {
  open(): CodeTable
  /** Bytes that hold codes. The memory itself never shrinks; what is free in it is zero. */
  bytes(): number
  memory: WasmMemory
}

/** Memory for codes, shared by all spaces of a process. It never takes more than `maxBytes`. */
export function createCodePool(maxBytes: number): CodePool {
  const maxBlocks = Math.floor(maxBytes / BLOCK_BYTES)
  const memory = createMemory(FIRST_BLOCK_AT / PAGE, (FIRST_BLOCK_AT + maxBlocks * BLOCK_BYTES) / PAGE)
  const scan = createScan(memory)
  const free: number[] = []
  let made = 0
  let bytes = new Uint8Array(memory.buffer)
  let numbers = new Uint32Array(memory.buffer)

  function take(): Block | undefined {
    const at = free.pop()
    if (at !== undefined) return { at, count: 0 }
    if (made === maxBlocks) return undefined
    try {
      memory.grow(BLOCK_BYTES / PAGE)
    } catch {
      // The machine has no more memory for this process, whatever the setting allows.
      return undefined
    }
    bytes = new Uint8Array(memory.buffer)
    numbers = new Uint32Array(memory.buffer)
    return { at: FIRST_BLOCK_AT + made++ * BLOCK_BYTES, count: 0 }
  }

  const seqIndex = (block: Block, index: number) => (block.at + SEQS_AT) / 4 + index
  const seqOf = (block: Block, index: number) => numbers[seqIndex(block, index)] ?? 0
  const lastSeqOf = (block: Block) => seqOf(block, block.count - 1)

  function copy(from: Block, index: number, to: Block, toIndex: number): void {
    for (const half of HALVES) {
      const at = from.at + half + index * HALF_BYTES
      bytes.copyWithin(to.at + half + toIndex * HALF_BYTES, at, at + HALF_BYTES)
    }
    numbers[seqIndex(to, toIndex)] = seqOf(from, index)
  }

  /** Nothing of a removed code stays in memory. */
  function shorten(block: Block, count: number): void {
    for (const half of HALVES) {
      bytes.fill(0, block.at + half + count * HALF_BYTES, block.at + half + block.count * HALF_BYTES)
    }
    numbers.fill(0, seqIndex(block, count), seqIndex(block, block.count))
    block.count = count
  }

  function open(): CodeTable {
    let blocks: Block[] = []

    function add(records: Uint8Array): boolean {
      const view = new DataView(records.buffer, records.byteOffset, records.length)
      for (let at = 0; at < records.length; at += RECORD_BYTES) {
        const seq = Number(view.getBigUint64(at))
        if (seq > LARGEST_SEQ) return false
        let block = blocks.at(-1)
        if (block && seq <= lastSeqOf(block)) continue
        if (!block || block.count === CODES_PER_BLOCK) {
          block = take()
          if (!block) return false
          blocks.push(block)
        }
        const to = block.at + block.count * HALF_BYTES
        bytes.set(records.subarray(at + 8, at + 8 + HALF_BYTES), to)
        bytes.set(records.subarray(at + 8 + HALF_BYTES, at + RECORD_BYTES), to + SECOND_HALVES_AT)
        numbers[seqIndex(block, block.count++)] = seq
      }
      return true
    }

    /** Removes what `isGone` says among the numbers after `from` and up to `to`, and joins blocks that fit into one. */
    function removeIf(from: number, to: number, isGone: (seq: number) => boolean): void {
      for (const block of blocks) {
        if (lastSeqOf(block) <= from || seqOf(block, 0) > to) continue
        let kept = 0
        for (let index = 0; index < block.count; index++) {
          const seq = seqOf(block, index)
          if (seq > from && seq <= to && isGone(seq)) continue
          if (kept !== index) copy(block, index, block, kept)
          kept++
        }
        shorten(block, kept)
      }
      const joined: Block[] = []
      for (const block of blocks) {
        const last = joined.at(-1)
        if (last && last.count + block.count <= CODES_PER_BLOCK) {
          for (let index = 0; index < block.count; index++) copy(block, index, last, last.count++)
          shorten(block, 0)
        }
        if (block.count > 0) joined.push(block)
        else free.push(block.at)
      }
      blocks = joined
    }

    return {
      add,
      remove(seqs) {
        const gone = new Set(seqs)
        if (gone.size === 0) return
        const sorted = seqs.toSorted((a, b) => a - b)
        removeIf((sorted[0] ?? 0) - 1, sorted.at(-1) ?? 0, (seq) => gone.has(seq))
      },
      retain(from, to, seqs) {
        const kept = new Set(seqs)
        removeIf(from, to, (seq) => !kept.has(seq))
      },
      scan(probes) {
        const found: number[][] = []
        for (let start = 0; start < probes.length; start += PROBES_PER_PASS) {
          found.push(...scanTogether(probes.slice(start, start + PROBES_PER_PASS)))
        }
        return found
      },
      count: () => blocks.reduce((sum, { count }) => sum + count, 0),
      drop() {
        for (const block of blocks) {
          shorten(block, 0)
          free.push(block.at)
        }
        blocks = []
      },
    }

    /** A block is compared with every probe while it is in the processor's cache: reading it costs as much as two comparisons. */
    function scanTogether(probes: readonly CodeProbe[]): number[][] {
      for (const [n, { code }] of probes.entries()) bytes.set(code.subarray(0, CODE_BYTES), n * CODE_BYTES)
      const nearest = probes.map(createNearest)
      for (const block of blocks) {
        for (const [n, best] of nearest.entries()) {
          const end = scan(block.at, block.count, n * CODE_BYTES, best.sieve, best.most(), LIST_AT, HITS_AT)
          for (let hit = HITS_AT / 4; hit < end / 4; hit++) {
            const packed = numbers[hit] ?? 0
            // The scan looks at four codes at a time, and so beyond the last one.
            if ((packed & 0xffff) < block.count) best.add(packed >>> 16, seqOf(block, packed & 0xffff))
          }
        }
      }
      bytes.fill(0, 0, probes.length * CODE_BYTES)
      return nearest.map((best) => best.seqs())
    }
  }

  return { open, bytes: () => (made - free.length) * BLOCK_BYTES, memory }
}

/** Keeps the nearest `wanted`, and as many more as are as near as the last of them. */
function createNearest({ sieve, wanted, within }: Omit<CodeProbe, 'code'>) {
  const byDistance: number[][] = Array.from({ length: BITS + 1 }, () => [])
  let most = BITS
  let count = 0
  return {
    sieve,
    most: () => most,
    add(distance: number, seq: number): void {
      if (distance > most) return
      byDistance[distance]?.push(seq)
      count++
      while (count - (byDistance[most]?.length ?? 0) >= wanted) {
        count -= byDistance[most]?.length ?? 0
        byDistance[most--] = []
      }
    },
    seqs(): number[] {
      const nearest = byDistance.findIndex(({ length }) => length > 0)
      return byDistance.slice(0, Math.min(most, nearest + within) + 1).flat()
    },
  }
}
