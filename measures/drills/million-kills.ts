import { sleep } from '@ostiary/testkit/run'
import type { Moments } from './kill-moments.ts'
import type { Lines, MadeKill } from './million-journal.ts'
import { type Kind, killAt, type PlannedKill, receiverDeaths, type Step, untilBurstMs } from './million-plan.ts'
import type { Running, Site } from './million-site.ts'

/** How long a kill waits for its step before it comes anyway. */
const STEP_WITHIN_MS = 45_000
/** The kill comes so long after the call was sent, at most: into its work. */
const INTO_CALL_MS = 15
/** A burst of sessions expires within a second and is swept in little more. */
const INTO_SWEEP_MS = { from: 50, to: 1_000 }

interface Deps {
  site: Site
  running: Running
  made: Lines<MadeKill>
  moments: Moments<Step>
  /** Events acknowledged so far. */
  events(): number
  say(text: string): void
}

/** Makes each kill when its number of events is reached, one at a time, at its step. */
export function createKiller({ site, running, made, moments, events, say }: Deps) {
  const before = made.read()
  let kills = before.filter(({ kind }) => kind !== 'receivers').length
  let deaths = before.length - kills
  let working: Promise<void> | undefined
  let failure: unknown

  const nextKill = () => killAt(kills, site)
  const nextDeathAt = () =>
    deaths < receiverDeaths(site.kills) ? ((deaths + 1) * site.events) / (receiverDeaths(site.kills) + 1) : Infinity

  async function kill({ kind, step }: PlannedKill): Promise<void> {
    const isMet = await waitFor(step)
    const atEvents = events()
    const startedMs = performance.now()
    await strike(kind)
    const tookMs = Math.round(performance.now() - startedMs)
    made.append({ kind, step, isMet, atEvents, tookMs })
    kills++
    say(
      `kill ${kills} of ${site.kills}: ${kind} at ${step}${isMet ? '' : ' (none was under way)'}, ${atEvents} events, back in ${tookMs} ms`,
    )
  }

  async function waitFor(step: Step): Promise<boolean> {
    if (step === 'sweep') {
      const { from, to } = INTO_SWEEP_MS
      await sleep(untilBurstMs(Date.now()) + from + Math.random() * (to - from))
      return true
    }
    const isMet = await (step === 'delivery' ? running.nextRequest(STEP_WITHIN_MS) : moments.next(step, STEP_WITHIN_MS))
    await sleep(Math.random() * INTO_CALL_MS)
    return isMet
  }

  function strike(kind: Kind): Promise<void> {
    switch (kind) {
      case 'worker':
        // Every fourth time nobody is left who could take over at once.
        return running.killWorkers(kills % 12 === 0 ? 'both' : kills % 2)
      case 'api':
        return running.killApi()
      case 'postgres':
        return running.killPostgres()
    }
  }

  async function killReceivers(): Promise<void> {
    const startedMs = performance.now()
    await running.killReceivers(deaths)
    made.append({ kind: 'receivers', atEvents: events(), tookMs: Math.round(performance.now() - startedMs) })
    deaths++
  }

  async function workOff(): Promise<void> {
    for (;;) {
      const planned = nextKill()
      if (planned && events() >= planned.atEvents) await kill(planned)
      else if (events() >= nextDeathAt()) await killReceivers()
      else return
    }
  }

  /** Starts what is due. */
  function check(): void {
    if (failure) throw failure
    working ??= workOff()
      .catch((error) => {
        failure = error
      })
      .finally(() => {
        working = undefined
      })
  }

  return {
    /**
     * Call it before each session. While a kill is due and the one before is not over, only one lane goes on: the load must not run ahead of
     * the kills, and a kill that waits for its step must meet one.
     */
    async pass(lane: number): Promise<void> {
      check()
      const following = killAt(kills + 1, site)
      if (lane > 0 && working && following && events() >= following.atEvents) await working
    },
    /** Resolves when what is due has been done. */
    async settle(): Promise<void> {
      check()
      await working
      if (failure) throw failure
    },
    isComplete: () => nextKill() === undefined,
  }
}
