/**
 * Recordings of one challenge, played to fresh ones: for every set of movements that a user may exclude, at both paces, beside all movements at the
 * usual pace, and honest people who begin each movement as late as they may. 2,000 recordings and 200 people for each set.
 * --full: 20,000 and 2,000, and recordings that start three seconds late, where the slow pace has the most to lose. About twenty of 2,000 pass, too
 * few to tell that difference: there the highest of the late shares was 1.13, and with 20,000 of the same seed 0.88.
 */
import { acceptedOf, EVERY_NEED, nameOf, passesOf } from '@ostiary/server/measure'
import type { Measure } from '@ostiary/testkit/measuring/figure'

/** The times of the challenges were chosen with seed 21. */
const SEED = 1849
const LATE_MS = 3000

export const measure: Measure = async ({ full, say }) => {
  const replays = { seed: SEED, played: full ? 20_000 : 2000 }
  const people = { seed: SEED, count: replays.played / 10 }
  const usual = passesOf({}, replays)
  say(`${nameOf({})}: ${usual} of ${replays.played} pass, ${acceptedOf({}, people)} of ${people.count} people`)
  const shares = EVERY_NEED.map((needs) => {
    const atOnce = passesOf(needs, replays)
    const late = full ? passesOf(needs, { ...replays, delayMs: LATE_MS }) : 0
    const accepted = acceptedOf(needs, people)
    say(`${nameOf(needs)}: ${atOnce}${full ? ` and ${late} (late)` : ''} pass, ${accepted} people`)
    return { atOnce: atOnce / usual, late: late / usual, accepted: accepted / people.count }
  })
  const highest = (of: 'atOnce' | 'late') => Math.max(...shares.map((share) => share[of]))
  const accepted = Math.min(...shares.map((share) => share.accepted))
  return [
    { name: 'replayed.share', value: highest('atOnce'), floor: 0.8, is: 'most' },
    ...(full ? [{ name: 'replayed.late_share', value: highest('late'), floor: 1, is: 'most' } as const] : []),
    { name: 'replayed.accepted', value: accepted, floor: 0.98, is: 'least' },
  ]
}
