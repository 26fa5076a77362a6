import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LaunchState, SESSION_LIMITS } from '@ostiary/contract'
import { SERVICE_STATES } from '@ostiary/contract/states'
import { endOf, isUnderWay, pageStateOf, stageOf, tipOf } from './page-state.ts'
import { SESSION as holder } from './testing/service.ts'

test('a session that waits for consent begins on the welcome screen', () => {
  assert.deepEqual(pageStateOf(holder), { at: 'welcome', answering: false })
  assert.deepEqual(pageStateOf({ ...holder, state: 'CREATED' }), { at: 'welcome', answering: false })
})

test('a page loaded again after consent goes on with the camera and does not ask for consent again', () => {
  assert.deepEqual(pageStateOf({ ...holder, state: 'READY' }), { at: 'camera', status: 'prime' })
  assert.deepEqual(pageStateOf({ ...holder, state: 'FACE_ACTIVE' }), { at: 'camera', status: 'prime' })
})

test('a try that was not accepted leads to another one', () => {
  assert.deepEqual(pageStateOf({ ...holder, state: 'READY', errors: [-32] }), { at: 'retry', tip: 'neutral' })
})

test('a step that this page does not know is a problem and not an empty screen', () => {
  assert.deepEqual(pageStateOf({ ...holder, state: 'MATCHING' }), { at: 'problem', problem: 'step_missing' })
})

test('the document step begins by asking what is wanted, and after the document comes the face', () => {
  for (const errors of [[], [-26]])
    assert.deepEqual(pageStateOf({ ...holder, state: 'DOC_ACTIVE', errors }), { at: 'document', stage: 'wait' })
  assert.deepEqual(pageStateOf({ ...holder, state: 'DOC_DONE' }), { at: 'camera', status: 'prime' })
})

test('a desktop that may not run the flow shows the code for a phone', () => {
  const desktop: LaunchState = { ...holder, state: 'HANDOFF_WAIT', role: 'viewer', errors: [-5] }
  assert.deepEqual(pageStateOf(desktop), { at: 'handoff', status: 'making' })
})

test('a device that joined with a code types the number first, whatever else the session is ready for', () => {
  for (const state of ['OPENED', 'HANDOFF_WAIT', 'READY'] as const)
    assert.deepEqual(pageStateOf({ ...holder, state, numberNeeded: true }), { at: 'number', sending: false })
  const over: LaunchState = { ...holder, flowStatus: 'EXPIRED', numberNeeded: true }
  assert.deepEqual(pageStateOf(over), { at: 'expired' })
})

test('after a wrong number the first device makes no new code by itself', () => {
  const first: LaunchState = { ...holder, state: 'HANDOFF_WAIT', role: 'viewer', errors: [-33] }
  assert.deepEqual(pageStateOf(first), { at: 'handoff', status: 'number_wrong' })
})

test('a second device that made a code for a third shows the code until it is used', () => {
  assert.deepEqual(pageStateOf({ ...holder, state: 'HANDOFF_WAIT' }), { at: 'handoff', status: 'making' })
})

test('a device that handed over watches the other one', () => {
  const stages = (['OPENED', 'READY', 'FACE_ACTIVE', 'DOC_ACTIVE', 'EVALUATING'] as const).map(stageOf)
  assert.deepEqual(stages, ['scanned', 'consent', 'face', 'document', 'done'])
  assert.deepEqual(pageStateOf({ ...holder, state: 'FACE_ACTIVE', role: 'viewer' }), { at: 'viewer', stage: 'face' })
})

test('the flow status decides the end screen, for holder and viewer alike', () => {
  const end = (flowStatus: LaunchState['flowStatus'], errors: number[] = []) =>
    endOf({ ...holder, flowStatus, errors }).at
  assert.equal(end('COMPLETED'), 'done')
  assert.equal(end('COMPLETED', [1]), 'ended')
  assert.equal(end('CANCELLED', [-17]), 'cancelled')
  assert.equal(end('CANCELLED', [-38]), 'cancelled')
  assert.equal(end('CANCELLED', [-18]), 'declined')
  assert.equal(end('EXPIRED'), 'expired')
  assert.deepEqual(pageStateOf({ ...holder, role: 'viewer', flowStatus: 'EXPIRED' }), { at: 'expired' })
})

test('every code of the server gives the same tip; only codes of the device have their own', () => {
  const tips = (...errors: (number | undefined)[]) => errors.map((code) => tipOf(code))
  assert.deepEqual(tips(1, 2, -9, -32, -34, undefined), Array(6).fill('neutral'))
  assert.deepEqual(tips(-10, -11, -12, -20, -22), ['light', 'alone', 'face', 'models', 'models'])
  assert.deepEqual(tips(-31, -39), ['covered', 'quality'])
})

test('a face that was too far or too close has its own tip, and no other code takes over such a reason', () => {
  assert.deepEqual([tipOf(-39, 'too_far'), tipOf(-39, 'too_close'), tipOf(-39, 'other')], ['far', 'near', 'quality'])
  assert.deepEqual([tipOf(-31, 'mask'), tipOf(1, 'too_far')], ['covered', 'neutral'])
})

test('the steps of ENROLL, SIGN-IN and VERIFY have their screens, also after the page is loaded again', () => {
  const place = (state: LaunchState['state'], errors: number[] = []) => pageStateOf({ ...holder, state, errors })
  assert.deepEqual(place('CONSENTED'), { at: 'camera', status: 'prime' })
  assert.deepEqual(place('CONSENTED', [-9]), { at: 'retry', tip: 'neutral' })
  assert.deepEqual(place('PASSKEY_ACTIVE'), { at: 'passkey', status: 'prime' })
  assert.deepEqual(place('PASSKEY_ACTIVE', [-25]), { at: 'passkey', status: 'refused' })
  for (const state of SERVICE_STATES) assert.deepEqual(place(state), { at: 'sending' })
  const stages = (['CONSENTED', 'SERVER_COMPARE', 'PASSKEY_ACTIVE', 'FINALIZING'] as const).map(stageOf)
  assert.deepEqual(stages, ['consent', 'face', 'passkey', 'done'])
})

test('SUCCESS ends on done and FAILED never does', () => {
  const end = (state: LaunchState['state'], errors: number[]) =>
    endOf({ ...holder, flowStatus: 'COMPLETED', state, errors }).at
  assert.equal(end('SUCCESS', []), 'done')
  assert.equal(end('FAILED', [-35]), 'ended')
  assert.equal(end('FAILED', []), 'ended')
})

test('a document step that was begun is not opened again as long as the service takes it', () => {
  const graceMs = SESSION_LIMITS.graceSeconds * 1000
  const document = { at: 'document' } as const
  assert.deepEqual([isUnderWay(document, graceMs - 1), isUnderWay(document, graceMs)], [true, false])
  assert.deepEqual([isUnderWay({ at: 'capture' }, 2 * graceMs), isUnderWay({ at: 'welcome' }, 0)], [true, false])
})
