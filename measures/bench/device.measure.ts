/**
 * What a device call costs: PostgreSQL beside a bare update of the same rows, however many days are kept; the API beside its signature
 * checks, one key agreement and the same requests and statements in a bare server.
 * With `--full`, or `--before COMMIT`, also the whole flow, beside the API and the worker of the last release or that commit.
 *
 *   npm run bench -- device [--full] [--part pg|api|flow] [--before 2c2df21]
 */
import { parseArgs } from 'node:util'
import { hasCommit, LAST_RELEASE } from '@ostiary/testkit/measuring/earlier-release'
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import { compareApi } from './device-api.ts'
import { compareFlow } from './device-flow.ts'
import { compareRows } from './device-rows.ts'

const OPTIONS = { part: { type: 'string' }, before: { type: 'string' }, full: { type: 'boolean' } } as const

export const measure: Measure = async ({ full, say }) => {
  const { part, before = full ? lastRelease(say) : undefined } = parseArgs({
    args: process.argv.slice(4),
    options: OPTIONS,
  }).values
  const isAsked = (name: string) => part === undefined || part === name
  const figures: Figure[] = []
  if (isAsked('pg'))
    figures.push(...(await compareRows(full ? { rounds: 30, calls: 2_000 } : { rounds: 6, calls: 1_000 }, say)))
  if (isAsked('api')) {
    const turns = full ? { warmUp: 6_000, turns: 12, sessions: 120 } : { warmUp: 120, turns: 4, sessions: 40 }
    figures.push(...(await compareApi(turns, say)))
  }
  if (before !== undefined && isAsked('flow')) {
    const turns = full ? { warmUp: 400, turns: 10, sessions: 150 } : { warmUp: 60, turns: 3, sessions: 30 }
    figures.push(...(await compareFlow(before, turns, say)))
  }
  return figures
}

function lastRelease(say: (line: string) => void): string | undefined {
  if (hasCommit(LAST_RELEASE)) return LAST_RELEASE
  say('this clone does not have the last release: the whole flow is not compared')
  return undefined
}
