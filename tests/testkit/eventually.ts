import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_EVERY_MS = 10
/** Far beyond what anything here takes, so that a busy machine fails no test. Something that never happens fails after this time. */
const GIVE_UP_MS = 120_000

/**
 * Looks again and again until there is something: resolves with the first answer that is neither undefined nor false. Tests wait
 * with it for an event, never for a time.
 */
export async function eventually<T>(
  look: () => T | Promise<T>,
  what: string | (() => string) = 'it did not happen',
): Promise<Exclude<T, undefined | false>> {
  const giveUpAt = performance.now() + GIVE_UP_MS
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen as Exclude<T, undefined | false>
    if (performance.now() > giveUpAt)
      throw new Error(`After ${GIVE_UP_MS / 1000} s: ${typeof what === 'string' ? what : what()}`)
    await sleep(LOOK_EVERY_MS)
  }
}
