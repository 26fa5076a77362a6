import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CaptureFrame, CapturePayload } from '@ostiary/contract'
import { type CaptureCase, type CaptureJudgement, judgeCapture } from './judge.ts'
import { estimateFor, honestCapture, logOf, type Moment } from './testing/person.ts'

type Honest = ReturnType<typeof honestCapture>
type Verdict = Pick<CaptureJudgement, 'flags' | 'failure'>

const SEEDS = Array.from({ length: 40 }, (_, index) => 1000 + index)

const withPayload = (capture: Honest, change: Partial<CapturePayload>): CaptureCase => ({
  ...capture,
  payload: { ...capture.payload, ...change },
})
/** Other frames with an estimate that fits them, so that only the frames are wrong. */
const withFrames = (capture: Honest, frames: CaptureFrame[]) =>
  withPayload(capture, { frames, estimate: estimateFor(frames) })
const mapFrames = (capture: Honest, change: (frame: CaptureFrame, index: number) => Partial<CaptureFrame>) =>
  withFrames(
    capture,
    capture.payload.frames.map((frame, index) => ({ ...frame, ...change(frame, index) })),
  )
/** Another log, with a payload that refers to it correctly. */
function withMoments(capture: Honest, change: (moments: Moment[]) => Moment[]): CaptureCase {
  const log = logOf(change(capture.moments))
  return { ...withPayload(capture, { log: { seq: log.seq, hash: log.hash } }), log }
}
const without = (capture: Honest, type: Moment['type']) =>
  withMoments(capture, (moments) => moments.filter((moment) => moment.type !== type))

function expectAll(mutate: (capture: Honest) => CaptureCase | undefined, { flags, failure }: Verdict): void {
  let judged = 0
  for (const seed of SEEDS) {
    const mutated = mutate(honestCapture(seed))
    if (!mutated) continue
    judged++
    const judgement = judgeCapture(mutated)
    assert.deepEqual([seed, judgement.flags, judgement.failure], [seed, flags, failure])
  }
  assert.ok(judged >= 10, `only ${judged} captures could be changed so`)
}

test('an honest person is accepted, with the mean of the frames as the estimate', () => {
  for (let seed = 0; seed < 400; seed++) {
    const capture = honestCapture(seed, 1 + (seed % 3))
    assert.deepEqual(capture.log.flags, [])
    const { estimateYears, ...rest } = judgeCapture(capture)
    assert.deepEqual(rest, { flags: [], failure: null, unstable: false, mismatch: false }, `seed ${seed}`)
    assert.ok(Math.abs(estimateYears * 10 - capture.payload.estimate.age) <= 1)
  }
})

test('a challenge that another one replaced in the same try leaves no trace but its entries', () => {
  expectAll(
    (capture) =>
      withMoments(capture, (moments) => {
        const at = moments.findIndex(({ type }) => type === 'challenge_received')
        const left: Moment[] = [
          { type: 'challenge_received', t: 8000, n: 1 },
          { type: 'movement_shown', t: 8900, n: 1 },
        ]
        return moments.toSpliced(at, 0, ...left)
      }),
    { flags: [], failure: null },
  )
})

describe('where no age is asked for', () => {
  const ageless = (capture: Honest): Honest => {
    const frames = capture.payload.frames.map(({ age: _age, ...frame }) => frame)
    const payload = { ...capture.payload, frames, estimate: { age: 0, spread: 0, frames: 0 } }
    return { ...capture, payload, wantsAge: false }
  }

  test('an honest person is accepted without one', () => {
    expectAll(ageless, { flags: [], failure: null })
  })

  test('too few good pictures are inconclusive, and all other rules still apply', () => {
    const poor = (capture: Honest) => {
      const frames = capture.payload.frames.map((frame, at) => (at < 4 ? frame : { ...frame, quality: 200 }))
      return withPayload(capture, { frames })
    }
    expectAll((capture) => poor(ageless(capture)), { flags: [], failure: 'LIVENESS_INCONCLUSIVE' })
    expectAll((capture) => withPayload(ageless(capture), { live: 100 }), { flags: [], failure: 'SPOOF' })
  })
})

describe('frames that no camera took for this challenge', () => {
  const FOREIGN: Verdict = { flags: ['BH_CHALLENGE_MISMATCH'], failure: 'VIDEO_SPOOF' }
  const REPEATED: Verdict = { flags: ['BH_FRAMES_REPEAT'], failure: 'VIDEO_SPOOF' }

  test('two that were exchanged', () => {
    expectAll((capture) => {
      const { frames } = capture.payload
      const [a, b] = [frames[6], frames[7]]
      return a && b && withFrames(capture, frames.with(6, b).with(7, a))
    }, FOREIGN)
  })

  test('one more than the challenge asked for', () => {
    expectAll((capture) => {
      const [first] = capture.payload.frames
      if (!first) return undefined
      const extra = { ...first, t: first.t - 3, yaw: first.yaw + 1, digest: 'EXTRA-FRAME' }
      return withFrames(capture, [extra, ...capture.payload.frames])
    }, FOREIGN)
  })

  test('one at a time that the challenge did not ask for', () => {
    expectAll((capture) => {
      const [firstAt = 0] = capture.challenge.sampleAtMs
      return firstAt > 251 ? mapFrames(capture, ({ t }, index) => ({ t: index === 0 ? firstAt - 251 : t })) : undefined
    }, FOREIGN)
  })

  test('the same digest twice', () => {
    expectAll((capture) => {
      const digest = capture.payload.frames[2]?.digest ?? ''
      return mapFrames(capture, (frame, index) => ({ digest: index === 9 ? digest : frame.digest }))
    }, REPEATED)
  })

  test('the same picture three times with three digests', () => {
    expectAll((capture) => {
      const [first, second, third] = capture.payload.frames
      if (!first || !second || !third) return undefined
      const copies = capture.payload.frames
        .with(1, { ...first, t: second.t, digest: 'other-digst' })
        .with(2, { ...first, t: third.t, digest: 'third-digst' })
      return withFrames(capture, copies)
    }, REPEATED)
  })

  test('the same picture twice with two digests, which can be coincidence: it costs a try', () => {
    expectAll(
      (capture) => {
        const [first, second] = capture.payload.frames
        if (!first || !second) return undefined
        return withFrames(capture, capture.payload.frames.with(1, { ...first, t: second.t, digest: 'other-digst' }))
      },
      { flags: [], failure: 'LIVENESS_INCONCLUSIVE' },
    )
  })

  test('the same delay in all: it raises a flag and refuses nothing', () => {
    expectAll((capture) => mapFrames(capture, (_, index) => ({ t: (capture.challenge.sampleAtMs[index] ?? 0) + 20 })), {
      flags: ['BH_FPS_SYNTHETIC'],
      failure: null,
    })
  })

  test('the capture of another challenge is never accepted', () => {
    for (let seed = 0; seed < 400; seed++) {
      const { payload } = honestCapture(seed)
      const other = honestCapture(seed + 400)
      const { frames, estimate } = payload
      assert.notEqual(judgeCapture(withPayload(other, { frames, estimate })).failure, null, `seed ${seed}`)
    }
  })
})

describe('a face that does not do as it was asked', () => {
  const NOT_FOLLOWED: Verdict = { flags: [], failure: 'LIVENESS_INCONCLUSIVE' }
  /** The face as it was before the first step, with the small changes that it always has. */
  const atRest = ({ payload }: Honest, { yaw, pitch, eyes, size }: CaptureFrame): Partial<CaptureFrame> => {
    const [first] = payload.frames
    return {
      yaw: (first?.yaw ?? 0) + (yaw % 12),
      pitch: (first?.pitch ?? 0) + (pitch % 12),
      eyes: 680 + (eyes % 45),
      size: (first?.size ?? 0) + (size % 12),
    }
  }
  const ignores = (capture: Honest, step: number) => {
    const from = capture.challenge.steps[step]?.atMs ?? 0
    return mapFrames(capture, (frame) => (frame.t > from && frame.t < from + 1700 ? atRest(capture, frame) : {}))
  }

  for (const step of [0, 1, 2]) {
    test(`movement ${step + 1} is missing: another try`, () =>
      expectAll((capture) => ignores(capture, step), NOT_FOLLOWED))
  }

  test('raises a flag from the second time on', () => {
    const again = (mismatches: number) => judgeCapture({ ...ignores(honestCapture(5), 1), mismatches })
    assert.deepEqual([again(0).flags, again(0).mismatch], [[], true])
    assert.deepEqual([again(1).flags, again(2).flags], [['BH_CHALLENGE_MISMATCH'], ['BH_CHALLENGE_MISMATCH']])
    assert.deepEqual(judgeCapture({ ...honestCapture(5), mismatches: 2 }).flags, [])
  })

  test('left for right in every step', () => {
    expectAll((capture) => {
      if (!capture.challenge.steps.some(({ movement }) => movement.startsWith('turn'))) return undefined
      return mapFrames(capture, ({ yaw }) => ({ yaw: -yaw }))
    }, NOT_FOLLOWED)
  })

  test('every answer three seconds late', () => {
    const late = (capture: Honest): CaptureCase => {
      const shifted = capture.challenge.steps.map((step) => ({ ...step, atMs: Math.max(0, step.atMs - 3000) }))
      return { ...capture, challenge: { ...capture.challenge, steps: shifted } }
    }
    for (const seed of SEEDS) assert.notEqual(judgeCapture(late(honestCapture(seed))).failure, null)
  })

  test('a movement that was there before it was asked for', () => {
    expectAll(
      (capture) => {
        const [step] = capture.challenge.steps
        const second = capture.payload.frames[1]
        if (!second || step?.movement === 'blink') return undefined
        const moved: Record<string, Partial<CaptureFrame>> = {
          turn_left: { yaw: second.yaw + 200 },
          turn_right: { yaw: second.yaw - 200 },
          look_up: { pitch: second.pitch + 150 },
          closer: { size: Math.round(second.size * 1.3) },
        }
        return mapFrames(capture, (_, index) => (index === 1 ? (moved[step?.movement ?? ''] ?? {}) : {}))
      },
      { flags: ['BH_CHALLENGE_LATENCY'], failure: 'LIVENESS_INCONCLUSIVE' },
    )
  })

  test('a still picture', () => {
    expectAll(
      (capture) =>
        mapFrames(capture, ({ roll }) => ({ yaw: 3 + (roll % 4), pitch: -5, eyes: 690 + (roll % 9), size: 400 })),
      { flags: ['BH_FRAMES_STATIC'], failure: 'SPOOF' },
    )
  })

  test('answers that are instant, too slow or equal by the log', () => {
    const LATENCY: Verdict = { flags: ['BH_CHALLENGE_LATENCY'], failure: 'VIDEO_SPOOF' }
    const latencies =
      (...ms: number[]) =>
      (capture: Honest) =>
        withMoments(capture, (moments) =>
          moments.map((moment, index) => {
            if (moment.type !== 'movement_seen') return moment
            return { ...moment, t: (moments[index - 1]?.t ?? 0) + (ms[(moment.n ?? 1) - 1] ?? 0) }
          }),
        )
    expectAll(latencies(149, 700, 800), LATENCY)
    expectAll(latencies(420, 420, 420), LATENCY)
    expectAll(latencies(420, 425, 423), { flags: [], failure: 'LIVENESS_INCONCLUSIVE' })
  })
})

describe('a capture that the log does not describe', () => {
  const UNTOLD: Verdict = { flags: ['BH_RESULT_NO_CAPTURE'], failure: 'VIDEO_SPOOF' }
  const cases: Record<string, (capture: Honest) => CaptureCase> = {
    'names another last entry': (capture) =>
      withPayload(capture, { log: { ...capture.payload.log, seq: capture.log.seq - 1 } }),
    'names another hash': (capture) => withPayload(capture, { log: { ...capture.payload.log, hash: 'x'.repeat(43) } }),
    'was never finished': (capture) => without(capture, 'capture_done'),
    'had no challenge': (capture) => without(capture, 'challenge_received'),
    'had no camera': (capture) => without(capture, 'camera_ready'),
    'is of the try before': (capture) => ({ ...capture, attempt: 2 }),
    'says that it is of another try': (capture) => withPayload(capture, { attempt: 2 }),
    'was given up': (capture) => withMoments(capture, (moments) => [...moments, { type: 'retake', t: 90_000 }]),
    'has no number in the log': (capture) =>
      withMoments(capture, (moments) =>
        moments.map(({ type, t, n }) =>
          type === 'challenge_received' ? { type, t } : { type, t, ...(n ? { n } : {}) },
        ),
      ),
  }
  for (const [name, mutate] of Object.entries(cases)) {
    test(`one that ${name}`, () => {
      const { flags, failure } = judgeCapture(mutate(honestCapture(77)))
      assert.ok(flags.includes('BH_RESULT_NO_CAPTURE'))
      assert.equal(failure, 'VIDEO_SPOOF')
    })
  }

  test('one that was over before its last frame', () => {
    const endAt = (beforeLast: number) => (capture: Honest) => {
      const lastFrame = capture.payload.frames.at(-1)?.t ?? 0
      const t = 9000 + lastFrame - beforeLast
      return withMoments(capture, (moments) =>
        moments.map((moment) => (moment.type === 'capture_done' ? { ...moment, t } : moment)),
      )
    }
    expectAll(endAt(100), { flags: [], failure: null })
    expectAll(endAt(101), UNTOLD)
  })

  test('one whose log was broken before', () => {
    expectAll((capture) => ({ ...capture, log: { ...capture.log, flags: ['BH_CHAIN_BROKEN'] } }), {
      flags: ['BH_CHAIN_BROKEN'],
      failure: 'VIDEO_SPOOF',
    })
  })

  test('other flags of the log refuse nothing here', () => {
    expectAll((capture) => ({ ...capture, log: { ...capture.log, flags: ['BH_LOG_GAP', 'BH_TAB_HIDDEN'] } }), {
      flags: [],
      failure: null,
    })
  })
})

describe('numbers that contradict each other', () => {
  const IMPLAUSIBLE: Verdict = { flags: ['BH_NUMERIC_IMPLAUSIBLE'], failure: 'VIDEO_SPOOF' }
  const stated =
    (change: (estimate: CapturePayload['estimate']) => Partial<CapturePayload['estimate']>) => (capture: Honest) =>
      withPayload(capture, { estimate: { ...capture.payload.estimate, ...change(capture.payload.estimate) } })

  test('another age, spread or count than that of the frames', () => {
    expectAll(
      stated(({ age }) => ({ age: age + 7 })),
      IMPLAUSIBLE,
    )
    expectAll(
      stated(({ age }) => ({ age: age - 7 })),
      IMPLAUSIBLE,
    )
    expectAll(
      stated(({ spread }) => ({ spread: spread + 12 })),
      IMPLAUSIBLE,
    )
    expectAll(
      stated(({ frames }) => ({ frames: frames - 1 })),
      IMPLAUSIBLE,
    )
  })

  test('the same age in all frames, an age from a poor frame, an impossible face', () => {
    expectAll((capture) => mapFrames(capture, ({ age }) => (age === undefined ? {} : { age: 300 })), IMPLAUSIBLE)
    expectAll((capture) => mapFrames(capture, (_, index) => (index === 3 ? { quality: 200 } : {})), IMPLAUSIBLE)
    expectAll((capture) => mapFrames(capture, (_, index) => (index === 3 ? { roll: 890 } : {})), IMPLAUSIBLE)
  })

  test('ages that differ by many years from frame to frame: a flag, and a reason for a document', () => {
    for (const seed of SEEDS) {
      const wild = mapFrames(honestCapture(seed), ({ age }, index) =>
        age === undefined ? {} : { age: index % 2 ? 200 : 400 + index },
      )
      const { estimateYears, ...judgement } = judgeCapture(wild)
      assert.deepEqual(judgement, { flags: ['BH_AGE_UNSTABLE'], failure: null, unstable: true, mismatch: false })
    }
  })
})

describe('the most serious failure is the answer, and every flag is returned', () => {
  const spoof = (capture: Honest) => withPayload(capture, { live: 100 })
  const model = { acceptModel: () => false }
  const broken = (capture: CaptureCase): CaptureCase => ({
    ...capture,
    log: { ...capture.log, flags: ['BH_CHAIN_BROKEN'] },
  })
  const honest = honestCapture(3)
  for (const [name, capture, verdict] of [
    ['an unknown model', { ...honest, ...model }, { flags: ['BH_MODEL_MISMATCH'], failure: 'MODEL_LOAD_FAILED' }],
    ['a doubtful face', withPayload(honest, { live: 400 }), { flags: [], failure: 'LIVENESS_INCONCLUSIVE' }],
    ['a spoof', spoof(honest), { flags: [], failure: 'SPOOF' }],
    [
      'a doubtful face and an unknown model',
      { ...withPayload(honest, { live: 400 }), ...model },
      { flags: ['BH_MODEL_MISMATCH'], failure: 'MODEL_LOAD_FAILED' },
    ],
    [
      'a spoof and an unknown model',
      { ...spoof(honest), ...model },
      { flags: ['BH_MODEL_MISMATCH'], failure: 'SPOOF' },
    ],
    [
      'a broken log and all of these',
      broken({ ...spoof(honest), ...model }),
      { flags: ['BH_CHAIN_BROKEN', 'BH_MODEL_MISMATCH'], failure: 'VIDEO_SPOOF' },
    ],
  ] as const) {
    test(name, () => {
      const { flags, failure } = judgeCapture(capture)
      assert.deepEqual({ flags, failure }, verdict)
    })
  }
})
