import { execFileSync } from 'node:child_process'
import type { CreateSessionBody } from '@ostiary/contract'
import type { Wire } from '@ostiary/server/measure'
import type { Figure } from '@ostiary/testkit/measuring/figure'
import type { Host } from '@ostiary/testkit/measuring/sessions-load'
import { ROOT } from '@ostiary/testkit/run'
import { loadSessions } from './session-rows.ts'

const RATE_FLOOR = 5_000
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

/** How fast sessions end whose time is over, some of them with webhooks. */
export async function measureSweep(
  site: Site,
  { dueSessions, body }: { dueSessions: number; body: CreateSessionBody },
  say: Say,
): Promise<Figure> {
  const { callback, ...rest } = body
  const { wire, databaseUrl, host, settings } = site
  const hourAgo = new Date(Date.now() - 3_600_000)
  await loadSessions(wire, databaseUrl, host, {
    ...{ count: dueSessions, livemode: true, lifetimeSeconds: LIFETIME_SECONDS, madeAt: hourAgo },
    bodyOf: (index) => (index % CALLBACK_EVERY === 0 ? { ...rest, ...(callback && { callback }) } : rest),
  })
  const { expired, ms } = sweep(settings)
  say(`sweep: ${expired} sessions in ${Math.round(ms)} ms, one in ${CALLBACK_EVERY} with a webhook, one process`)
  return {
    name: 'sessions.sweep.per-second',
    value: (expired * 1000) / ms,
    floor: RATE_FLOOR,
    is: 'least',
    load: true,
  }
}

function sweep(settings: Record<string, string>): { expired: number; ms: number } {
  const env = { PATH: process.env.PATH ?? '', ...settings, LOG_LEVEL: 'error' }
  return JSON.parse(execFileSync(process.execPath, [`${ROOT}measures/bench/sweep.ts`], { env, encoding: 'utf8' }))
}
