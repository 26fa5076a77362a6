import { execFileSync } from 'node:child_process'
import type { CreateSessionBody } from '@ostiary/contract'
import type { Wire } from '@ostiary/server/measure'
import { type Figure, median } from '@ostiary/testkit/measuring/figure'
import type { Host } from '@ostiary/testkit/measuring/sessions-load'
import { ROOT } from '@ostiary/testkit/run'
import { loadSessions } from './session-rows.ts'

const RATE_FLOOR = 5_000
const RATIO_FLOOR = 0.7
/** Of the sessions that expire, one in so many has a webhook. */
const CALLBACK_EVERY = 4
const LIFETIME_SECONDS = 900

interface Site {
  wire: Wire
  databaseUrl: string
  host: Host
  settings: Record<string, string>
}
type Say = (text: string) => void

/** How fast sessions end whose time is over: those whose end is reported to nobody beside a bare update, and a mix with webhooks. */
export async function measureSweep(
  site: Site,
  { dueSessions, body }: { dueSessions: number; body: CreateSessionBody },
  say: Say,
): Promise<Figure[]> {
  const { callback, ...rest } = body
  const { wire, databaseUrl, host } = site
  const load = (bodyOf: (index: number) => CreateSessionBody) =>
    loadSessions(wire, databaseUrl, host, {
      ...{ count: dueSessions, livemode: true, lifetimeSeconds: LIFETIME_SECONDS, bodyOf },
      // All in one day, in the partition that the bare update names.
      madeAt: madeAt(dueSessions),
    })

  await load(() => rest)
  const day = madeAt(dueSessions).toISOString().slice(0, 10).replaceAll('-', '')
  const costs = run<Record<'bare' | 'ours', number[]>>('sweep-ratio', site, { PARTITION: `sessions_${day}` })
  const [bare, ours] = [median(costs.bare), median(costs.ours)]
  say(
    `sweep: ${bare.toFixed(1)} µs of CPU for each session by the bare update, ${ours.toFixed(1)} by ours (median of ${costs.bare.length} turns each): nobody opened them, without webhooks, live`,
  )
  const ratio: Figure = {
    name: 'sessions.sweep.ratio',
    value: bare / ours,
    floor: RATIO_FLOOR,
    is: 'least',
    load: true,
  }

  await load((index) => (index % CALLBACK_EVERY === 0 ? { ...rest, ...(callback && { callback }) } : rest))
  const { expired, ms } = run<{ expired: number; ms: number }>('sweep', site)
  say(`sweep: ${expired} sessions in ${Math.round(ms)} ms, one in ${CALLBACK_EVERY} with a webhook, one process`)
  const rate: Figure = {
    name: 'sessions.sweep.per-second',
    value: (expired * 1000) / ms,
    floor: RATE_FLOOR,
    is: 'least',
    load: true,
  }
  return [ratio, rate]
}

/** An hour ago, or at the beginning of yesterday's last hours when the day is younger than that. */
function madeAt(count: number): Date {
  const hourAgo = new Date(Date.now() - 3_600_000)
  const last = new Date(hourAgo.getTime() + count)
  if (hourAgo.getUTCDate() === last.getUTCDate()) return hourAgo
  return new Date(hourAgo.getTime() - count)
}

function run<Result>(script: string, { settings }: Site, more: Record<string, string> = {}): Result {
  const env = { PATH: process.env.PATH ?? '', ...settings, LATE_RESULTS: 'true', LOG_LEVEL: 'error', ...more }
  return JSON.parse(execFileSync(process.execPath, [`${ROOT}measures/bench/${script}.ts`], { env, encoding: 'utf8' }))
}
