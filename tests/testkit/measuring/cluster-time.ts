import { readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'
import { processorMs } from './processor-time.ts'

/** The first process of the cluster that a client is connected to. Linux, and on this machine only. */
export async function postmasterOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return statOf(rows[0]?.pid ?? 0).parent
}

/**
 * The processor time that all processes of a cluster have used so far, in milliseconds: those of connections, those in the background, and
 * those that have ended.
 */
export function clusterMs(postmaster: number): number {
  let total = processorMs(postmaster) + statOf(postmaster).endedChildrenMs
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      if (statOf(Number(entry)).parent === postmaster) total += processorMs(Number(entry))
    } catch {
      // It has ended meanwhile, and is among the ended ones at the next look.
    }
  }
  return total
}

/** The kernel counts the time of ended processes in ticks, a hundred a second. */
const TICK_MS = 10

function statOf(pid: number): { parent: number; endedChildrenMs: number } {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the command stands in parentheses and may hold spaces. The numbers after it: state, parent, ….
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { parent: Number(fields[1]), endedChildrenMs: (Number(fields[13]) + Number(fields[14])) * TICK_MS }
}
