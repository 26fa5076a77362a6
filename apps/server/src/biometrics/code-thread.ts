/** The thread that holds the codes of faces and scans them (code-memory.ts). Nothing else has access to them. */
import { parentPort, workerData } from 'node:worker_threads'
import { type CodeProbe, type CodeTable, createCodePool } from './code-pool.ts'

export type CodeOrder =
  | { kind: 'add'; records: Uint8Array }
  | { kind: 'remove'; seqs: readonly number[] }
  | { kind: 'retain'; from: number; to: number; seqs: readonly number[] }
  | { kind: 'scan'; probe: CodeProbe }
  | { kind: 'drop' }

/** `table` is the number of a space's codes, which the caller chooses. A new number opens an empty table. */
export type CodeMessage = CodeOrder & { id: number; table: number }

export interface CodeAnswer {
  id: number
  /** Of a scan. */
  seqs?: number[]
  /** False when the memory is full. */
  done: boolean
  /** How many codes the table has now, and how many bytes all tables hold. */
  count: number
  bytes: number
}

const pool = createCodePool(Number(workerData))
const tables = new Map<number, CodeTable>()
let scans: (CodeMessage & { kind: 'scan' })[] = []

/** Only what adds codes opens a table: an order that comes after the drop must not leave an empty one. */
function openTable(number: number): CodeTable {
  const table = tables.get(number) ?? pool.open()
  tables.set(number, table)
  return table
}

function answer({ id, table }: CodeMessage, outcome: { done: boolean; seqs?: number[] }): void {
  const count = tables.get(table)?.count() ?? 0
  parentPort?.postMessage({ id, ...outcome, count, bytes: pool.bytes() } satisfies CodeAnswer)
}

/** Scans that came while another ran read the codes once for all of them. */
function scanTogether(): void {
  const waiting = scans
  scans = []
  for (const [number, together] of Map.groupBy(waiting, ({ table }) => table)) {
    const found = tables.get(number)?.scan(together.map(({ probe }) => probe))
    for (const [n, message] of together.entries()) answer(message, { done: true, seqs: found?.[n] ?? [] })
  }
}

function obey(message: Exclude<CodeMessage, { kind: 'scan' }>): boolean {
  const table = tables.get(message.table)
  switch (message.kind) {
    case 'add':
      return openTable(message.table).add(message.records)
    case 'remove':
      table?.remove(message.seqs)
      return true
    case 'retain':
      table?.retain(message.from, message.to, message.seqs)
      return true
    case 'drop':
      table?.drop()
      tables.delete(message.table)
      return true
  }
}

parentPort?.on('message', (message: CodeMessage) => {
  if (message.kind === 'scan') {
    if (scans.length === 0) setImmediate(scanTogether)
    scans.push(message)
  } else answer(message, { done: obey(message) })
})
