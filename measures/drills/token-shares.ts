/**
 * For fair-shares: twelve devices of one tenant repeat their token enrolments, while another tenant's come now and then. What is timed is the
 * evaluation in the process of the API, which is where they share threads: half of such evaluations (p50), not the p95 of calls.
 */
import { createEvaluations } from '@ostiary/server/measure'
import { type Figure, type MeasureOptions, median } from '@ostiary/testkit/measuring/figure'
import { sleep } from '@ostiary/testkit/run'
import { createProbe, createToken } from '@ostiary/token'
import { seeded } from './malformed.ts'
import { createVectors } from './oracle-attack.ts'

const DEVICES = 12
const EVALUATIONS = 15
const PAUSE_MS = 80
const RATIO_MOST = 2

export async function besideTokenDevices(rounds: number, say: MeasureOptions['say']): Promise<Figure> {
  const evaluations = createEvaluations()
  const face = createVectors(7).direction()
  const enrolled = await createToken(new Uint8Array(16).fill(7), face)
  const probe = await createProbe(enrolled.publicKey, face)
  const input = { ...enrolled, probe, secret: new Uint8Array(32).fill(9), isEnrolment: true }
  const random = seeded(3)
  const evaluate = (owner: string) => evaluations.evaluate(owner, input)
  const timesOf = async () => {
    const tookMs: number[] = []
    for (let n = 0; n < EVALUATIONS; n++) {
      // Otherwise each would begin in the moment in which an evaluation of the devices has begun.
      await sleep(random() * PAUSE_MS)
      const startedMs = performance.now()
      await evaluate('working')
      tookMs.push(performance.now() - startedMs)
    }
    return median(tookMs)
  }
  try {
    await timesOf()
    const quiet: number[] = []
    const attacked: number[] = []
    for (let round = 0; round < rounds; round++) {
      quiet.push(await timesOf())
      let isOver = false
      const devices = Array.from({ length: DEVICES }, async () => {
        while (!isOver) await evaluate('attacker')
      })
      attacked.push(await timesOf())
      isOver = true
      await Promise.all(devices)
    }
    const [alone, beside] = [median(quiet), median(attacked)]
    say(
      `token-devices: the evaluation alone, without its call: p50 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside ${DEVICES} devices`,
    )
    return {
      name: 'fair-shares.token-devices.p50-ratio',
      value: beside / alone,
      floor: RATIO_MOST,
      is: 'most',
      load: true,
    }
  } finally {
    await evaluations.stop()
  }
}
