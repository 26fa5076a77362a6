import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { ROOT, sleep } from '@ostiary/testkit/run'
import pg from 'pg'

/** Ends every process of a private cluster at once, as a power cut of the database would. Returns how many, once they are gone. */
export async function killPostgres(cluster: string): Promise<number> {
  const data = readFileSync(`${ROOT}.services/${cluster}/data-folder`, 'utf8').trim()
  const postmaster = Number(readFileSync(`${data}/postmaster.pid`, 'utf8').split('\n')[0])
  const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(postmaster)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/)
    .map(Number)
  for (const pid of [postmaster, ...children]) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended by itself when the postmaster died.
    }
  }
  for (const pid of [postmaster, ...children]) while (!isGone(pid)) await sleep(20)
  return children.length + 1
}

/** A killed process that waits for the disk stays for a while, and PostgreSQL does not start beside it. Without a reaper it stays as a zombie, which counts as ended. */
function isGone(pid: number): boolean {
  try {
    return /^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return true
  }
}

/** Starts it again while this process goes on calling the API. */
export async function restartPostgres(cluster: string): Promise<void> {
  await promisify(execFile)(`${ROOT}tools/services`, ['start', cluster])
}

/** Whether what PostgreSQL acknowledges is on disk. */
export async function isDurable(url: string): Promise<boolean> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<{ on: boolean }>(
    `select bool_and(setting = 'on') as on from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')`,
  )
  await client.end()
  return rows[0]?.on === true
}
