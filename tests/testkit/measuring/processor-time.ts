import { readdirSync, readFileSync } from 'node:fs'

/** The processor time that a running process has used so far, over all of its threads, in milliseconds. Linux only. */
export function processorMs(pid: number): number {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
  }
  return nanoseconds / 1e6
}

/** The memory that a running process has now, in megabytes. Linux only. */
export function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000
}
