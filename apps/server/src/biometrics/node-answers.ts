import type { Caller } from '../keys/index.ts'
import { AppError } from '../platform/errors.ts'
import type { ProcessorTimeOf } from '../platform/processor-budget.ts'
import type { Settings } from '../settings/index.ts'
import type { Enrolled, Enrolment, EnrolRequest } from './enrolment.ts'
import { type HitLevel, reportScores, type ScoreDetail } from './hit-budget.ts'
import type { HitCounts } from './hit-counts.ts'
import type { Candidate, PredictRequest, Recognition } from './recognition.ts'

interface Deps {
  enrolment: Enrolment
  recognition: Recognition
  hits: HitCounts
  settings: Settings
  processorTimeOf: ProcessorTimeOf
}

/**
 * What a comparison reports to callers of area E. Area D asks `recognition` and `enrolment` themselves: it reports no score, so its
 * sign-ins are neither counted nor refused here.
 */
export function createNodeAnswers({ enrolment, recognition, hits, settings, processorTimeOf }: Deps) {
  async function detailOf({ tenantId }: Caller, level: HitLevel): Promise<ScoreDetail> {
    return level === 'open' ? (await settings.get(tenantId)).nodeScores : 'one_band'
  }

  function refuseIfHeld(caller: Caller, level: HitLevel): void {
    if (level !== 'refuse') return
    const extra = { retryAfterSeconds: Math.max(1, hits.waitSecondsOf(caller)) }
    throw new AppError('rate_limited', 'RATE_LIMITED', 'Too many predictions near one person', extra)
  }

  return {
    async predict(caller: Caller, request: PredictRequest): Promise<Candidate[]> {
      refuseIfHeld(caller, hits.levelOfKey(caller))
      const time = processorTimeOf('node-search', caller)
      time.ask()
      const { candidates, nearby } = await recognition.recognise(caller, { ...request, spend: time.spend })
      const level = await hits.count(caller, nearby)
      refuseIfHeld(caller, level)
      return reportScores(candidates, await detailOf(caller, level))
    },

    /**
     * A face that is enrolled already is a hit like any other. It is counted before anything is stored: an enrolment that fails later, because
     * of a name in use for example, has said that nobody has the face, and a new person could not be refused any more.
     */
    async enrol(caller: Caller, request: EnrolRequest): Promise<Enrolled> {
      refuseIfHeld(caller, hits.levelOfKey(caller))
      const time = processorTimeOf('node-search', caller)
      time.ask()
      let level: HitLevel = 'open'
      const enrolled = await enrolment.enrol(caller, { ...request, spend: time.spend }, async (nearby) => {
        level = await hits.count(caller, nearby)
        refuseIfHeld(caller, level)
      })
      if (enrolled.isNew) return enrolled
      const [reported = enrolled] = reportScores(
        [{ ...enrolled, puid: enrolled.personId }],
        await detailOf(caller, level),
      )
      return reported
    },
  }
}
export type NodeAnswers = ReturnType<typeof createNodeAnswers>
