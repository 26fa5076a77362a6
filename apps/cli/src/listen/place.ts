import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Environment } from '@ostiary/server/operate'

/** Where `listen` goes on after a stop. */
export interface Place {
  read(): string | undefined
  /** Whole or not at all: a kill in between leaves the cursor before. */
  write(cursor: string): void
  file: string
}

interface Way {
  url: string
  apiKey: string
  target: string
}

/** One file for each service, key and target. Its name is a hash, because the key must stand nowhere. */
export function placeOf(env: Environment, { url, apiKey, target }: Way): Place {
  const base = env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state')
  const name = createHash('sha256').update([url, apiKey, target].join('\n')).digest('hex').slice(0, 24)
  const file = join(base, 'ostiary', 'listen', `${name}.json`)
  let known: string | undefined
  return {
    file,
    read() {
      try {
        const { cursor } = JSON.parse(readFileSync(file, 'utf8')) as { cursor?: unknown }
        known = typeof cursor === 'string' ? cursor : undefined
      } catch {
        known = undefined
      }
      return known
    },
    write(cursor) {
      if (cursor === known) return
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
      const draft = `${file}.${process.pid}`
      writeFileSync(draft, `${JSON.stringify({ cursor, url, target })}\n`, { mode: 0o600 })
      renameSync(draft, file)
      known = cursor
    },
  }
}
