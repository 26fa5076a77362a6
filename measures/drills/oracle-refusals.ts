/**
 * The attacker who reads refusals. A key that does not wait, and is refused all the same, met a person without tokens: the 429 says that its face
 * is near the person, as well as any yes. An answer then says that it is not, and costs nothing. So the attacker keeps count of the person's tokens
 * as the service does, looks for the boundary of a match while there are some and for that of near when there are none, waits with each key as
 * long as it is told, and goes on with the next one.
 */
import { HIT_BUDGET } from '@ostiary/contract'
import { type Attacker, MATCH_MIN, NEAR_MIN, type OracleAnswer, type Vector } from './oracle-attack.ts'

const TOKENS = HIT_BUDGET.hour.most / 2
const SECONDS_PER_TOKEN = 3_600 / TOKENS
/** Where no key is made to wait it would ask for ever. */
const MOST_READ = 1_000

/** An answer, or for how many seconds its key has to wait. */
export type Ask = (probe: Vector) => Promise<OracleAnswer | { waitSeconds: number }>

interface Hour {
  attacker: Attacker
  /** One for each key and process. */
  ways: readonly Ask[]
  /** How many answers may be read as exact scores. */
  scores: number
  /** Sets the clock of the service to so many seconds after the beginning. */
  moveTo(seconds: number): Promise<void>
}

export async function readRefusals({ attacker, ways, scores, moveTo }: Hour) {
  const keys = ways.map((ask) => ({ ask, openAt: 0 }))
  const read = { answers: 0, refusals: 0 }
  let [now, missing] = [0, 0]
  for (;;) {
    const key = keys.reduce((first, one) => (one.openAt < first.openAt ? one : first))
    if (key.openAt >= 3_600 || read.answers + read.refusals >= MOST_READ) return read
    if (key.openAt > now) {
      missing = Math.max(0, missing - (key.openAt - now) / SECONDS_PER_TOKEN)
      now = key.openAt
      await moveTo(now)
    }
    const isEmpty = missing + 1 > TOKENS
    let waitSeconds: number | undefined
    const ask = async (probe: Vector): Promise<OracleAnswer> => {
      const answer = await key.ask(probe)
      if (!('waitSeconds' in answer)) return answer
      waitSeconds = answer.waitSeconds
      return { score: MATCH_MIN }
    }
    const readsScore = !isEmpty && read.answers < scores
    await attacker.step(ask, readsScore ? 'score' : 'yes-no', isEmpty ? NEAR_MIN : MATCH_MIN)
    if (waitSeconds === undefined) read.answers++
    else read.refusals++
    // At the boundary of a match nearly every probe is near. The key that takes the last token is not told to wait.
    if (waitSeconds !== undefined || !isEmpty) missing++
    key.openAt = now + (waitSeconds ?? (isEmpty ? 0 : Math.max(0, missing + 1 - TOKENS) * SECONDS_PER_TOKEN))
  }
}
