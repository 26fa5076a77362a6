import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LaunchEventType, RiskFlagCode } from '@ostiary/contract'
import { appendEvents, emptyLog } from './event-log.ts'
import { chain, type Moment } from './testing/person.ts'

/** A flow by its event names, a second between each; `shown 2` is a `movement_shown` with the number 2. */
function flagsOf(names: string): RiskFlagCode[] {
  const moments = names.split(' ').map((name, index): Moment => {
    const [, word = '', number] = /^([a-z_]+?)(\d?)$/.exec(name) ?? []
    const type = (SHORT[word] ?? word) as LaunchEventType
    return { type, t: 1000 * (index + 1), ...(number ? { n: Number(number) } : {}) }
  })
  return flagsAt(moments)
}
const flagsAt = (moments: Moment[]) => appendEvents(emptyLog(), chain(moments), { maxEvents: 300 }).flags
const SHORT: Record<string, string> = {
  open: 'page_open',
  ask: 'consent_shown',
  yes: 'consent_given',
  want: 'camera_requested',
  ready: 'camera_ready',
  got: 'challenge_received',
  shown: 'movement_shown',
  seen: 'movement_seen',
  done: 'capture_done',
  card: 'document_shown',
  text: 'document_read',
  sent: 'document_confirmed',
  hide: 'tab_hidden',
  show: 'tab_visible',
}
const UNTIL_READY = 'open ask yes want ready'
const ONE_TRY = `${UNTIL_READY} got1 shown1 seen1 shown2 seen2 shown3 seen3 done submit`

describe('the order of the steps', () => {
  for (const flow of [
    ONE_TRY,
    `${UNTIL_READY} got1 done submit`,
    `${UNTIL_READY} got1 shown1 shown2 seen1 done submit submit`,
    `${ONE_TRY} retake got2 shown1 seen1 done submit retake got3 shown1 done submit`,
    `${UNTIL_READY} got1 shown1 failure retake want ready got2 done submit`,
    `${UNTIL_READY} open want ready got1 done submit`,
    'open failure hide show ask hide show yes',
    `${UNTIL_READY} got1 got1 shown1 done submit`,
    `${UNTIL_READY} card1 text1 sent`,
    `${ONE_TRY} card1 text1 card2 text2 sent card1 text1 sent`,
    `${UNTIL_READY} card1 text1 open want ready got1 done submit card1 text1 sent`,
    `${UNTIL_READY} card1 text1 got1 done submit sent failure`,
  ]) {
    test(`allows ${flow}`, () => assert.deepEqual(flagsOf(flow), []))
  }

  for (const flow of [
    'ask',
    'hide',
    'failure',
    'open yes',
    'open ask want',
    'open ask yes ready',
    'open ask yes want got1',
    `${UNTIL_READY} shown1`,
    `${UNTIL_READY} done`,
    `${UNTIL_READY} retake`,
    `${UNTIL_READY} got1 submit`,
    'open ask yes card1',
    `${UNTIL_READY} text1`,
    `${UNTIL_READY} card1 text2`,
    `${UNTIL_READY} card1 sent`,
    `${UNTIL_READY} card1 text1 open sent`,
    `${UNTIL_READY} card1 open text1`,
    `${UNTIL_READY} got1 seen1`,
    `${UNTIL_READY} got1 shown1 seen2`,
    `${UNTIL_READY} got1 shown1 seen1 seen1`,
    `${UNTIL_READY} got1 shown1 shown1`,
    `${UNTIL_READY} got1 shown2`,
    `${UNTIL_READY} got1 shown`,
    `${UNTIL_READY} got1 shown1 done seen1`,
    `${UNTIL_READY} got1 done shown1`,
    `${UNTIL_READY} got1 done done`,
    `${ONE_TRY} retake submit`,
    `${ONE_TRY} retake done`,
    `${ONE_TRY} retake shown1`,
    `${ONE_TRY} got2 submit`,
  ]) {
    test(`does not allow ${flow}`, () => assert.deepEqual(flagsOf(flow), ['BH_STEP_ORDER']))
  }
})

describe('the pace', () => {
  const consent = (ms: number): Moment[] => [
    { type: 'page_open', t: 0 },
    { type: 'consent_shown', t: 1000 },
    { type: 'consent_given', t: 1000 + ms },
  ]
  test('nobody consents within 250 ms of being asked', () => {
    assert.deepEqual(flagsAt(consent(249)), ['BH_TOO_FAST'])
    assert.deepEqual(flagsAt(consent(250)), [])
  })

  const capture = (ms: number): Moment[] => [
    { type: 'page_open', t: 100 },
    { type: 'consent_shown', t: 150 },
    { type: 'consent_given', t: 400 },
    { type: 'camera_requested', t: 410 },
    { type: 'camera_ready', t: 420 },
    { type: 'challenge_received', t: 430, n: 1 },
    { type: 'capture_done', t: 100 + ms },
  ]
  test('nobody opens the page and finishes a capture within 2.5 seconds', () => {
    assert.deepEqual(flagsAt(capture(2499)), ['BH_TOO_FAST'])
    assert.deepEqual(flagsAt(capture(2500)), [])
  })

  test('a submit right after more than five minutes without an event raises a flag', () => {
    const after = (idleMs: number, thenMs: number): Moment[] => [
      ...capture(5000),
      { type: 'tab_visible', t: 5100 + idleMs },
      { type: 'submit', t: 5100 + idleMs + thenMs },
    ]
    assert.deepEqual(flagsAt(after(300_001, 300)), ['BH_TOO_SLOW'])
    assert.deepEqual(flagsAt(after(300_001, 301)), [])
    assert.deepEqual(flagsAt(after(300_000, 300)), [])
    assert.deepEqual(flagsAt([...capture(5000), { type: 'submit', t: 5100 + 300_001 }]), ['BH_TOO_SLOW'])
    const twice: Moment[] = [...capture(5000), { type: 'tab_visible', t: 400_000 }, { type: 'submit', t: 800_000 }]
    assert.deepEqual(flagsAt(twice), ['BH_TOO_SLOW'])
  })
})

describe('the tab', () => {
  test('is not hidden during a capture', () => {
    assert.deepEqual(flagsOf(`${UNTIL_READY} got1 shown1 hide show done`), ['BH_TAB_HIDDEN'])
    assert.deepEqual(flagsOf(`${UNTIL_READY} hide got1 show done`), ['BH_TAB_HIDDEN'])
  })

  test('may be hidden before, after and between tries', () => {
    assert.deepEqual(flagsOf(`${UNTIL_READY} hide show got1 done hide show submit retake hide show got2 done`), [])
  })

  test('may be hidden after a failed try or a reload, until the next challenge', () => {
    assert.deepEqual(flagsOf(`${UNTIL_READY} got1 shown1 failure hide show retake want ready got2 done`), [])
    assert.deepEqual(flagsOf(`${UNTIL_READY} got1 shown1 open hide show want ready got2 done`), [])
    assert.deepEqual(flagsOf(`${UNTIL_READY} got1 failure retake want ready got2 hide show done`), ['BH_TAB_HIDDEN'])
  })
})

test('a third retake exceeds the number of tries', () => {
  const retakes = (count: number) => flagsOf(`${UNTIL_READY} got1${' retake got1'.repeat(count)}`)
  assert.deepEqual(retakes(2), [])
  assert.deepEqual(retakes(3), ['BH_RETRY_EXCESS'])
})
