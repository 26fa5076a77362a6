import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CaptureView } from '../../capture/capture-types.ts'
import type { Translate } from '../../texts/translate.ts'
import { politeText, urgentText } from './heard.ts'

const t: Translate = (key) => key
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
  const said = views.map((view) => [urgentText(view, t), politeText(view, t)])
  assert.deepEqual(said, [
    ['', 'guidance.too_far'],
    ['capture.ready', ''],
    ['movement.look_up', ''],
    ['capture.back', ''],
    ['movement.blink', ''],
    ['', 'capture.measure. capture.measureText'],
  ])
})

test('before the models are there the page says that it is getting ready', () => {
  assert.deepEqual([urgentText(null, t), politeText(null, t)], ['', 'capture.load'])
})
