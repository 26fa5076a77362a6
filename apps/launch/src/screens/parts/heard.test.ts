import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CaptureView } from '../../capture/capture-types.ts'
import type { Translate } from '../../texts/translate.ts'
import { politeText, urgentText } from './heard.ts'

const t: Translate = (key, values) => (values ? `${key} ${Object.values(values)}` : key)
const TEXTS = { tag: 'en', name: 'English', direction: 'ltr', t } as const
const VIEW: CaptureView = {
  phase: 'challenge',
  guidance: null,
  movement: null,
  movementsSeen: 0,
  movementsTotal: 3,
  progress: 0,
}

test('each movement is announced at once, and so is that it was seen; everything else waits for a pause', () => {
  const views: CaptureView[] = [
    { ...VIEW, phase: 'find', guidance: 'too_far' },
    VIEW,
    { ...VIEW, movement: 'look_up' },
    { ...VIEW, movementsSeen: 1 },
    { ...VIEW, movement: 'blink', movementsSeen: 1 },
    { ...VIEW, phase: 'measure', movementsSeen: 2 },
  ]
  const said = views.map((capture) => [urgentText(capture, t), politeText({ capture, loading: null }, TEXTS)])
  assert.deepEqual(said, [
    ['', 'guidance.too_far'],
    ['capture.ready', ''],
    ['movement.look_up', ''],
    ['capture.back', ''],
    ['movement.blink', ''],
    ['', 'capture.measure. capture.measureText'],
  ])
})

test('before the models are there the page says that it is getting ready, and each quarter', () => {
  const saidAt = (loadedBytes: number) =>
    politeText({ capture: null, loading: { loadedBytes, totalBytes: 100 } }, TEXTS)
  assert.equal(urgentText(null, t), '')
  assert.deepEqual([0, 24, 25, 60, 99].map(saidAt), [
    'capture.load',
    'capture.load',
    'capture.loadSpoken 25%',
    'capture.loadSpoken 50%',
    'capture.loadSpoken 75%',
  ])
})
