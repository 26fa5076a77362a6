import type { Health } from '@ostiary/contract'
import type { Cell, Cells } from './cells.ts'
import type { Clock } from './clock.ts'
import { LOOK_SENTENCES, type Look } from './look.ts'
import { type Failing, judgeReadiness } from './readiness.ts'

export interface HealthMonitor {
  health(): Promise<Health>
  /** Whether a load balancer should send traffic. */
  readiness(): Promise<'ok' | 'starting' | 'stopping' | 'degraded'>
  markStarted(): void
  markStopping(): void
  /** Adds a warning: while it is true, `health` shows it as `stale`. It changes neither the status nor the readiness. */
  warn(name: string, isStale: () => Promise<boolean>): void
  /** Adds a check: while it returns a sentence, `health` is degraded and shows it. It changes the readiness only if it `decides`. */
  report(name: string, findFault: () => Promise<string | undefined>, decides?: 'readiness'): void
}

/** What failed, and the sentence about it. */
type Fault = readonly [string, string]

const FRESH_MS = 1_000

interface CellLook {
  check: string
  look: Look
  isReady: boolean
}

/** Checks database and warnings at most once a second, however often the route is called, because the route needs no key. */
export function createHealthMonitor(service: string, version: string, cells: Cells, clock: Clock): HealthMonitor {
  const startedMs = clock.monotonicMs()
  let phase: 'starting' | 'running' | 'stopping' = 'starting'
  const warnings = new Map<string, () => Promise<boolean>>()
  const reports = new Map<string, () => Promise<string | undefined>>()
  const deciding = new Set<string>()
  let last: { atMs: number; looks: Promise<CellLook[]>; stale: Promise<string[]>; faults: Promise<Fault[]> } | undefined
  const failing = new Map<string, Failing | undefined>()

  function look() {
    const nowMs = clock.monotonicMs()
    if (!last || nowMs - last.atMs > FRESH_MS)
      last = { atMs: nowMs, looks: lookAt(cells.all()), stale: listStale(), faults: listFaults() }
    return last
  }

  /** One entry per cell; a single database is reported as `store`. */
  async function lookAt(all: readonly Cell[]): Promise<CellLook[]> {
    return Promise.all(
      all.map(async ({ name, db }) => {
        const look = await db.look()
        const judged = judgeReadiness(look, failing.get(name), {
          nowMs: performance.now(),
          answeredMs: db.answeredMs(),
          isUp: db.isUp(),
        })
        failing.set(name, judged.failing)
        return { check: all.length === 1 ? 'store' : `store ${name}`, look, isReady: judged.isReady }
      }),
    )
  }

  async function listStale(): Promise<string[]> {
    const found: string[] = []
    for (const [name, isStale] of warnings) if (await isStale().catch(() => false)) found.push(name)
    return found
  }

  async function listFaults(): Promise<Fault[]> {
    const found = [...reports].map(async ([name, findFault]): Promise<Fault[]> => {
      const detail = await findFault().catch(() => undefined)
      return detail === undefined ? [] : [[name, detail]]
    })
    return (await Promise.all(found)).flat()
  }

  return {
    async health() {
      const looked = look()
      const [looks, stale, reported] = [await looked.looks, await looked.stale, await looked.faults]
      const faults = [...looks.flatMap(faultOf), ...reported]
      return {
        status: faults.length === 0 ? 'ok' : 'degraded',
        service,
        version,
        uptimeSeconds: Math.floor((clock.monotonicMs() - startedMs) / 1000),
        checks: Object.fromEntries([
          ...looks.map(({ check }) => [check, 'ok' as const] as const),
          ...faults.map(([name]) => [name, 'failed' as const] as const),
          ...stale.map((name) => [name, 'stale' as const] as const),
        ]),
        ...(faults.length > 0 && { details: Object.fromEntries(faults) }),
      }
    },
    async readiness() {
      if (phase !== 'running') return phase
      // If one of several cells is away, the tenants of the others must still be served.
      const isReady = (await look().looks).some((one) => one.isReady)
      return isReady && !(await look().faults).some(([name]) => deciding.has(name)) ? 'ok' : 'degraded'
    },
    markStarted: () => {
      // A signal may have come during the start.
      if (phase === 'starting') phase = 'running'
    },
    markStopping: () => {
      phase = 'stopping'
    },
    warn: (name, isStale) => void warnings.set(name, isStale),
    report(name, findFault, decides) {
      reports.set(name, findFault)
      if (decides) deciding.add(name)
    },
  }
}

const faultOf = ({ check, look }: CellLook): Fault[] => (look === 'ok' ? [] : [[check, LOOK_SENTENCES[look]]])
