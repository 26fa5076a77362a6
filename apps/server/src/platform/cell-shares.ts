import { createHash } from 'node:crypto'

/** Why a worker looks for work in a cell, or `off` when it leaves that to others. */
export type Duty = 'own' | 'help' | 'standby' | 'off'

export interface Situation {
  workerId: string
  cell: string
  /** All cells that this worker knows. */
  cells: readonly string[]
  /** The other workers with a valid lease in the cell. */
  others: readonly { workerId: string; duty: Duty; needsHelp: boolean }[]
  /** Whether this worker has more to do in its own cells than it can. */
  isOverloaded: boolean
  /** Looks in a row, with this one, in which no other worker served the cell. */
  unserved: number
}

/** A worker that has just started says in its next lease that it serves the cell. */
const UNSERVED_MOST = 2

/**
 * Decides from the leases of a cell whether this worker looks for work there. Workers with different lists of cells may each think that
 * another one serves a cell: a worker that sees a cell unserved for two looks serves it, and of several the one with the lowest id stays.
 */
export function decideDuty({ workerId, cell, cells, others, isOverloaded, unserved }: Situation): Duty {
  const workers = [workerId, ...others.map((other) => other.workerId)]
  if (shareCells(workers, cells).get(cell)?.has(workerId)) return 'own'
  if (!isOverloaded && others.some(({ needsHelp }) => needsHelp)) return 'help'
  return unserved >= UNSERVED_MOST ? 'standby' : 'off'
}

/** Whether another worker serves the cell, so that this one need not stand in. */
export function isServed(workerId: string, others: Situation['others']): boolean {
  return others.some(({ duty, workerId: other }) => duty === 'own' || (duty === 'standby' && other < workerId))
}

/**
 * Spreads cells over workers. Each cell goes to the worker whose hash with it is the highest among those that have room, and no worker gets more
 * than its part; where workers outnumber cells, each of the others joins a cell in the same way. So every worker serves a cell, every
 * cell has a worker, and few cells move when a worker comes or goes. All who know the same workers and cells get the same answer.
 */
export function shareCells(workers: readonly string[], cells: readonly string[]): Map<string, Set<string>> {
  const shares = new Map(cells.toSorted().map((cell) => [cell, new Set<string>()]))
  const counts = new Map(workers.toSorted().map((worker) => [worker, 0]))
  const assign = (cell: string, worker: string) => {
    shares.get(cell)?.add(worker)
    counts.set(worker, (counts.get(worker) ?? 0) + 1)
  }
  for (const cell of shares.keys()) {
    const least = Math.min(...counts.values())
    // The last cells go to workers that have one less than the others, so that no worker is left out.
    const most = Math.max(least + 1, Math.floor(cells.length / workers.length))
    const free = [...counts].filter(([, count]) => count < most).map(([worker]) => worker)
    const best = highest(free, (worker) => weightOf(worker, cell))
    if (best !== undefined) assign(cell, best)
  }
  for (const [worker, count] of counts) {
    if (count > 0) continue
    const fewest = Math.min(...[...shares.values()].map((share) => share.size))
    const open = [...shares].filter(([, share]) => share.size === fewest).map(([cell]) => cell)
    const best = highest(open, (cell) => weightOf(worker, cell))
    if (best !== undefined) assign(best, worker)
  }
  return shares
}

function highest(names: readonly string[], weigh: (name: string) => number): string | undefined {
  let best: { name: string; weight: number } | undefined
  for (const name of names) {
    const weight = weigh(name)
    if (!best || weight > best.weight) best = { name, weight }
  }
  return best?.name
}

function weightOf(worker: string, cell: string): number {
  return createHash('sha256').update(`${worker} ${cell}`).digest().readUInt32BE()
}
