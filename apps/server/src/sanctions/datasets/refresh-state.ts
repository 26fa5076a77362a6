import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RefreshSource } from './sources.ts'

/** Headers of a download that make the next request conditional. */
export interface Validators {
  etag?: string
  modified?: string
}

export interface RefreshState {
  /** The last attempt, successful or not. */
  checkedAt: string
  /** Consecutive failures. */
  failures: number
  /** A digest of the source's settings. Missing in the state of an older release. */
  settings?: string
  /** For a folder: names, sizes and times of its files. For URLs: the validators of each. */
  folder?: string
  urls?: Record<string, Validators>
}

/** The delay after the first failure. It doubles up to the source's own interval, to spare the publisher's server. */
const FIRST_RETRY_MS = 5 * 60_000
/** Tolerance for the job, which runs every five minutes but not to the millisecond. */
const EARLY_MS = 30_000

/** The state of each source, beside the datasets, so that a restarted or another worker continues where the last one stopped. */
export function createRefreshStates(folder: string) {
  const pathOf = (dataset: string) => join(folder, `${dataset}.json`)
  return {
    async read({ dataset }: RefreshSource): Promise<RefreshState | null> {
      try {
        const state = JSON.parse(await readFile(pathOf(dataset), 'utf8')) as Partial<RefreshState>
        const isOurs = typeof state.checkedAt === 'string' && Number.isInteger(state.failures)
        return isOurs ? (state as RefreshState) : null
      } catch {
        return null // never checked, or unreadable: the source is due
      }
    },
    async write({ dataset }: RefreshSource, state: RefreshState): Promise<void> {
      await mkdir(folder, { recursive: true })
      const draft = `${pathOf(dataset)}.tmp`
      await writeFile(draft, JSON.stringify(state))
      await rename(draft, pathOf(dataset))
    },
  }
}

export function isDue({ everyMs }: RefreshSource, { checkedAt, failures }: RefreshState, now: Date): boolean {
  const wait = failures === 0 ? everyMs : Math.min(everyMs, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 16))
  return now.getTime() - Date.parse(checkedAt) >= wait - EARLY_MS
}

/** A digest of all settings but the interval. */
export function settingsOf({ format, title, licence, kind, from }: RefreshSource): string {
  return createHash('sha256')
    .update(JSON.stringify([format, title, licence, kind, from]))
    .digest('hex')
}
