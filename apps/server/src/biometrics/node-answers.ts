import { HIT_BUDGET } from '@ostiary/contract'
import type { Caller } from '../keys/index.ts'
import { AppError } from '../platform/errors.ts'
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
}

/**
 * What a comparison reports to callers of area E. Area D asks `recognition` and `enrolment` themselves: it reports no score, so its
 * sign-ins are neither counted nor refused here.
 */
export function createNodeAnswers({ enrolment, recognition, hits, settings }: Deps) {
  async function detailOf({ tenantId }: Caller, level: HitLevel): Promise<ScoreDetail> {
    return level === 'open' ? (await settings.get(tenantId)).nodeScores : 'one_band'
  }

  function refuseIfHeld(level: HitLevel): void {
    if (level !== 'refuse') return
    const extra = { retryAfterSeconds: HIT_BUDGET.holdSeconds }
    throw new AppError('rate_limited', 'RATE_LIMITED', 'Too many predictions near one person', extra)
  }

  return {
    async predict(caller: Caller, request: PredictRequest): Promise<Candidate[]> {
      refuseIfHeld(hits.levelOfKey(caller))
      const { candidates, nearby } = await recognition.recognise(caller, request)
      const level = await hits.count(caller, nearby)
      refuseIfHeld(level)
      return reportScores(candidates, await detailOf(caller, level))
    },

    /**
     * A face that is enrolled already is a hit like any other. It is counted before anything is stored: an enrolment that fails later, because
     * of a name in use for example, has said that nobody has the face, and a new person could not be refused any more.
     */
    async enrol(caller: Caller, request: EnrolRequest): Promise<Enrolled> {
      refuseIfHeld(hits.levelOfKey(caller))
      const enrolled = await enrolment.enrol(caller, request, async (nearby) =>
        refuseIfHeld(await hits.count(caller, nearby)),
      )
      if (enrolled.isNew) return enrolled
      const [reported = enrolled] = reportScores(
        [{ ...enrolled, puid: enrolled.personId }],
        await detailOf(caller, hits.levelOfKey(caller)),
      )
      return reported
    },
  }
}
export type NodeAnswers = ReturnType<typeof createNodeAnswers>
