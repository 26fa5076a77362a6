import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { CaptureFrame, Movement } from '@ostiary/contract'
import type { ChallengeStep } from './challenge.ts'
import type { LogEntry } from './event-rules.ts'
import { checkMovements as checkChallenge, checkLatencies, findBaseline, shows } from './movements.ts'

const REST = { yaw: 20, pitch: -30, roll: 0, eyes: 600, size: 400, quality: 800, digest: 'aaaaaaaaaaa' }
const frame = (t: number, more: Partial<CaptureFrame> = {}): CaptureFrame => ({ t, ...REST, ...more })

/** A frame that clearly shows the movement against `REST`. */
const DOING: Record<Movement, Partial<CaptureFrame>> = {
  turn_left: { yaw: 270 },
  turn_right: { yaw: -230 },
  look_up: { pitch: 150 },
  blink: { eyes: 60 },
  closer: { size: 540 },
}
const asked = (...movements: Movement[]): ChallengeStep[] =>
  movements.map((movement, index) => ({ movement, atMs: 1000 + 2000 * index }))

/** Frames every 200 ms that show a movement between two times. */
function acted(...acts: [Movement, from: number, until: number][]): CaptureFrame[] {
  return Array.from({ length: 35 }, (_, index) => {
    const t = 200 + 200 * index
    return frame(
      t,
      Object.assign({}, ...acts.map(([movement, from, until]) => (t >= from && t < until ? DOING[movement] : {}))),
    )
  })
}

const checkMovements = (frames: CaptureFrame[], steps: ChallengeStep[]) => checkChallenge(frames, { steps })

const EARLY = { flag: 'BH_CHALLENGE_LATENCY', failure: 'LIVENESS_INCONCLUSIVE' }
const AGAINST_THE_LOG = { flag: 'BH_CHALLENGE_LATENCY', failure: 'VIDEO_SPOOF' }
const NOT_FOLLOWED = { failure: 'LIVENESS_INCONCLUSIVE', mismatch: true }

describe('a movement is a change against the face at rest', () => {
  for (const [movement, not, just] of [
    ['turn_left', { yaw: 140 }, { yaw: 141 }],
    ['turn_right', { yaw: -100 }, { yaw: -101 }],
    ['look_up', { pitch: 50 }, { pitch: 51 }],
    ['blink', { eyes: 210 }, { eyes: 209 }],
    ['closer', { size: 460 }, { size: 461 }],
  ] as const) {
    test(`${movement}: ${JSON.stringify(just)} is enough, ${JSON.stringify(not)} is not`, () => {
      assert.equal(shows(movement, frame(0, just), REST), true)
      assert.equal(shows(movement, frame(0, not), REST), false)
    })
  }

  test('which is the median of the frames before the first step, with the widest eyes', () => {
    const frames = [
      frame(100, { yaw: 40, pitch: 3, eyes: 100, size: 300 }),
      frame(900, { yaw: 0, pitch: 0, size: 420 }),
    ]
    const later = [frame(1099, { yaw: 10, pitch: 1, eyes: 500, size: 310 }), frame(1100, { yaw: 300, eyes: 999 })]
    assert.deepEqual(findBaseline([...frames, ...later], asked('blink')), { yaw: 10, pitch: 1, eyes: 600, size: 310 })
    assert.deepEqual(findBaseline(frames, asked('blink')), { yaw: 20, pitch: 1.5, eyes: 600, size: 360 })
    assert.equal(findBaseline([frame(1100)], asked('blink')), undefined)
  })

  test('and without a face at rest the result is inconclusive', () => {
    assert.deepEqual(checkMovements([frame(1500, DOING.blink)], asked('blink')), [{ failure: 'LIVENESS_INCONCLUSIVE' }])
  })
})

describe('a movement that was asked for', () => {
  const THREE = asked('turn_left', 'blink', 'closer')
  const answer = acted(['turn_left', 1400, 2200], ['blink', 3400, 4000], ['closer', 5600, 6400])

  test('is seen when every answer is there', () => {
    assert.deepEqual(checkMovements(answer, THREE), [])
  })

  test('is not seen when it is missing, checked for each one', () => {
    assert.deepEqual(checkMovements(acted(['blink', 3400, 4000], ['closer', 5600, 6400]), THREE), [NOT_FOLLOWED])
    assert.deepEqual(checkMovements(acted(['closer', 5600, 6400]), THREE), [NOT_FOLLOWED, NOT_FOLLOWED])
    assert.deepEqual(checkMovements(acted(), THREE), [NOT_FOLLOWED, NOT_FOLLOWED, NOT_FOLLOWED])
  })

  test('is not seen when the opposite movement is made', () => {
    assert.deepEqual(checkMovements(acted(['turn_right', 1400, 2200]), asked('turn_left')), [NOT_FOLLOWED])
    assert.deepEqual(checkMovements(acted(['turn_left', 1400, 2200]), asked('turn_right')), [NOT_FOLLOWED])
  })

  test('is seen from 150 to 2,500 ms after it was asked for', () => {
    const once = (t: number) => checkMovements([frame(500), frame(t, DOING.closer)], asked('closer'))
    assert.deepEqual(once(1149), [NOT_FOLLOWED])
    assert.deepEqual(once(1150), [])
    assert.deepEqual(once(3500), [])
    assert.deepEqual(once(3501), [NOT_FOLLOWED])
  })

  test('must begin: a face that looks like this all the time does not answer', () => {
    const all = { ...DOING.turn_left, ...DOING.look_up, ...DOING.blink, ...DOING.closer }
    const frames = [frame(400), frame(800), ...Array.from({ length: 30 }, (_, index) => frame(1200 + 200 * index, all))]
    assert.deepEqual(checkMovements(frames, asked('look_up', 'blink', 'closer')), [
      NOT_FOLLOWED,
      NOT_FOLLOWED,
      NOT_FOLLOWED,
    ])
  })

  test('may be asked for twice and must then begin twice', () => {
    const steps = asked('closer', 'blink', 'closer')
    const blink = ['blink', 3400, 4000] as const
    assert.deepEqual(checkMovements(acted(['closer', 1400, 2200], [...blink], ['closer', 5400, 6200]), steps), [])
    assert.deepEqual(checkMovements(acted(['closer', 1400, 7000], [...blink]), steps), [NOT_FOLLOWED])
  })
})

describe('a movement that is there before it was asked for', () => {
  test('is not an answer before the first step', () => {
    for (const movement of ['turn_left', 'turn_right', 'look_up', 'closer'] as const) {
      const both = acted([movement, 600, 1000], [movement, 1400, 2200])
      assert.deepEqual(checkMovements(both, asked(movement)), [EARLY], movement)
      assert.deepEqual(checkMovements([frame(300), frame(1099, DOING[movement])], asked(movement)), [
        EARLY,
        NOT_FOLLOWED,
      ])
    }
  })

  test('is not an answer between two steps, once the answer to the first is over', () => {
    const steps: ChallengeStep[] = [
      { movement: 'turn_left', atMs: 1000 },
      { movement: 'look_up', atMs: 3600 },
    ]
    const left = ['turn_left', 1400, 2200] as const
    const look = (from: number) => checkMovements(acted([...left], ['look_up', from, 4600]), steps)
    assert.deepEqual(look(3200), [EARLY])
    assert.deepEqual(look(3600), [EARLY])
    assert.deepEqual(look(3800), [])
  })

  test('is not taken for a recording when left was mistaken for right: that costs a try', () => {
    const mistaken = acted(['turn_right', 1400, 2200], ['turn_left', 3600, 4400])
    assert.deepEqual(checkMovements(mistaken, asked('turn_left', 'turn_right')), [NOT_FOLLOWED, NOT_FOLLOWED])
    const corrected = acted(['turn_right', 1400, 1800], ['turn_left', 1800, 2400], ['turn_right', 3400, 4200])
    assert.deepEqual(checkMovements(corrected, asked('turn_left', 'turn_right')), [])
  })

  test('is not taken for a recording when the person still holds it since it was asked for', () => {
    const stays = acted(['closer', 1400, 5400], ['blink', 3400, 4000], ['closer', 5800, 6600])
    assert.deepEqual(checkMovements(stays, asked('closer', 'blink', 'closer')), [])
  })

  test('is not taken for a recording when it is a single blink; eyes closed in two frames are', () => {
    assert.deepEqual(checkMovements(acted(['blink', 600, 700], ['blink', 1400, 2000]), asked('blink')), [])
    assert.deepEqual(checkMovements(acted(['blink', 600, 900], ['blink', 1400, 2000]), asked('blink')), [EARLY])
  })
})

describe('a show of all movements', () => {
  const steps = asked('turn_left', 'blink', 'closer')
  const answers = [
    ['turn_left', 1400, 2000],
    ['blink', 3400, 4000],
    ['closer', 5600, 6400],
  ] as const

  test('is recognised by movements that were not asked for in two steps; one is allowed', () => {
    const once = acted(...answers.map((one): [Movement, number, number] => [...one]), ['turn_right', 2200, 2600])
    assert.deepEqual(checkMovements(once, steps), [])
    const twice = acted(
      ...answers.map((one): [Movement, number, number] => [...one]),
      ['turn_right', 2200, 2600],
      ['look_up', 4200, 4600],
    )
    assert.deepEqual(checkMovements(twice, steps), [NOT_FOLLOWED])
  })

  test('is not assumed for a slow person who still answers the previous step', () => {
    const slow = acted(['turn_left', 1800, 3400], ['look_up', 3800, 5400], ['blink', 5800, 6400])
    assert.deepEqual(checkMovements(slow, asked('turn_left', 'look_up', 'blink')), [])
  })

  test('in an endless loop passes no challenge', () => {
    // Left, right, up, closer with closed eyes, a fifth of a second each.
    const round = (offset: number) =>
      Array.from({ length: 38 }, (_, index) => {
        const parts = [DOING.turn_left, DOING.turn_right, DOING.look_up, { ...DOING.closer, ...DOING.blink }, {}]
        return frame(200 * index, parts[(index + offset) % 5])
      })
    for (const offset of [0, 1, 2, 3, 4]) {
      for (const last of ['turn_right', 'look_up', 'blink', 'closer'] as const) {
        assert.ok(checkMovements(round(offset), asked('turn_left', 'blink', last)).length > 0)
      }
    }
  })
})

describe('the latencies in the log', () => {
  const steps = asked('turn_left', 'blink', 'closer')
  const check = (entries: LogEntry[]) => checkLatencies(entries, { steps })
  const log = (...latencies: number[]): LogEntry[] => [
    { seq: 1, t: 5000, type: 'challenge_received', n: 1, mark: '' },
    ...latencies.flatMap((latency, index): LogEntry[] => [
      { seq: 2 * index + 2, t: 10_000 * (index + 1), type: 'movement_shown', n: index + 1, mark: '' },
      { seq: 2 * index + 3, t: 10_000 * (index + 1) + latency, type: 'movement_seen', n: index + 1, mark: '' },
    ]),
  ]

  test('are 150 to 3,000 ms, each of them', () => {
    assert.deepEqual(check(log(150, 3000, 900)), [])
    assert.deepEqual(check(log(149, 3000, 900)), [AGAINST_THE_LOG])
    assert.deepEqual(check(log(150, 3001, 900)), [AGAINST_THE_LOG])
    assert.deepEqual(check(log(500, 700, -20)), [AGAINST_THE_LOG])
  })

  test('differ: equal to the millisecond they come from a program, nearly equal they cost a try', () => {
    assert.deepEqual(check(log(500, 500, 500)), [AGAINST_THE_LOG])
    assert.deepEqual(check(log(500, 501, 500)), [AGAINST_THE_LOG])
    assert.deepEqual(check(log(500, 502, 500)), [{ failure: 'LIVENESS_INCONCLUSIVE' }])
    assert.deepEqual(check(log(500, 505, 503)), [{ failure: 'LIVENESS_INCONCLUSIVE' }])
    assert.deepEqual(check(log(500, 506, 503)), [])
    assert.deepEqual(check(log(500, 500)), [])
  })

  test('are optional: a page need not log them, but a movement that was never shown cannot have been seen', () => {
    assert.deepEqual(check([]), [])
    assert.deepEqual(check(log(500, 900).slice(0, 4)), [])
    assert.deepEqual(check(log(500, 900).toSpliced(1, 1)), [AGAINST_THE_LOG])
  })

  test('start when a movement is due after the challenge, with 100 ms of slack for two clocks', () => {
    const shownAt = (t: number): LogEntry[] => [
      { seq: 1, t: 5000, type: 'challenge_received', n: 1, mark: '' },
      { seq: 2, t: 6500, type: 'movement_shown', n: 1, mark: '' },
      { seq: 3, t, type: 'movement_shown', n: 2, mark: '' },
    ]
    assert.deepEqual(check(shownAt(7900)), [])
    assert.deepEqual(check(shownAt(7899)), [AGAINST_THE_LOG])
  })
})

describe('in a challenge of few movements', () => {
  const cannot = ['turn', 'up'] as const
  const steps = (['blink', 'blink', 'closer', 'blink'] as const).map((movement, at) => ({
    movement,
    atMs: 1000 + 3000 * at,
  }))
  const check = (...acts: [Movement, from: number, until: number][]) => {
    const frames = Array.from({ length: 58 }, (_, index) => {
      const t = 200 + 200 * index
      const doing = acts.filter(([, from, until]) => t >= from && t < until)
      return frame(t, Object.assign({}, ...doing.map(([movement]) => DOING[movement])))
    })
    return checkChallenge(frames, { steps, cannot })
  }
  const last = [
    ['closer', 7400, 8200],
    ['blink', 10_400, 11_200],
  ] as const satisfies [Movement, number, number][]

  test('the same movement twice needs the face at rest between', () => {
    assert.deepEqual(check(['blink', 1400, 2000], ['blink', 4400, 5000], ...last), [])
    assert.deepEqual(check(['blink', 1400, 5000], ...last), [NOT_FOLLOWED])
  })

  test('a recording that does everything at once, again and again, is a show', () => {
    const all = [1400, 4400, 7400, 10_400].flatMap((from): [Movement, number, number][] => [
      ['blink', from, from + 800],
      ['closer', from, from + 800],
    ])
    assert.deepEqual(check(...all), [NOT_FOLLOWED])
    assert.deepEqual(check(['blink', 1400, 2000], ['blink', 4400, 5000], ['closer', 4400, 5000], ...last), [
      NOT_FOLLOWED,
    ])
  })

  test('who stays close until the next request is no recording', () => {
    const stays = [['blink', 1400, 2000], ['blink', 4400, 5000], ['closer', 7400, 10_600], last[1]] as const
    assert.deepEqual(check(...stays.map((one): [Movement, number, number] => [...one])), [])
  })

  test('eyes that open and shut all the time are a show; a blink now and then is not', () => {
    const closer = (['closer', 'closer', 'blink', 'closer'] as const).map((movement, at) => ({
      movement,
      atMs: 1000 + 3000 * at,
    }))
    const shutEvery = (everyMs: number) => {
      const frames = Array.from({ length: 58 }, (_, index) => {
        const t = 200 + 200 * index
        const isClose = [1400, 4400, 10_400].some((from) => t >= from && t < from + 800)
        const isShut = t % everyMs === 200 || t === 7600
        return frame(t, { ...(isClose && DOING.closer), ...(isShut && DOING.blink) })
      })
      return checkChallenge(frames, { steps: closer, cannot })
    }
    assert.deepEqual(shutEvery(3000), [])
    assert.deepEqual(shutEvery(600), [NOT_FOLLOWED])
  })
})
