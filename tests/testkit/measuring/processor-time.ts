import { readdirSync, readFileSync } from 'node:fs'

/** The processor time that a running process has used so far, over all of its threads, in milliseconds. Linux only. */
export function processorMs(pid: number): number {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
  }
  return nanoseconds / 1e6
}
