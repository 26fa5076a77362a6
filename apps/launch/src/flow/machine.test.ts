import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LaunchState } from '@ostiary/contract'
import { next, START } from './machine.ts'
import type { Event, State } from './states.ts'
import { SESSION } from './testing/service.ts'

const session: LaunchState = { ...SESSION, state: 'READY', livemode: false }
const ended = (flowStatus: 'COMPLETED' | 'CANCELLED' | 'EXPIRED', errors: number[] = []): LaunchState => ({
  ...session,
  state: flowStatus,
  flowStatus,
  errors,
  redirectUrl: 'https://shop.example/back',
})
const viewer = (state: LaunchState['state']): LaunchState => ({ ...session, state, role: 'viewer' })

/** Every state, with each variant that could matter to an event. */
const STATES: Record<string, State> = {
  loading: START,
  problem: { at: 'problem', problem: 'no_network' },
  unsupported: { at: 'unsupported', why: { kind: 'in_app', app: 'Chat' } },
  number: { at: 'number', sending: false },
  'number sending': { at: 'number', sending: true },
  welcome: { at: 'welcome', answering: false },
  'welcome answering': { at: 'welcome', answering: true },
  'camera prime': { at: 'camera', status: 'prime' },
  'camera asking': { at: 'camera', status: 'asking' },
  'camera denied': { at: 'camera', status: 'permission_denied' },
  capture: { at: 'capture' },
  sending: { at: 'sending' },
  retry: { at: 'retry', tip: 'neutral' },
  'document choose': { at: 'document', stage: 'choose' },
  'passkey prime': { at: 'passkey', status: 'prime' },
  'passkey asking': { at: 'passkey', status: 'asking' },
  'handoff making': { at: 'handoff', status: 'making' },
  'handoff ready': { at: 'handoff', status: 'ready' },
  'handoff refused': { at: 'handoff', status: 'refused' },
  'handoff number_wrong': { at: 'handoff', status: 'number_wrong' },
  viewer: { at: 'viewer', stage: 'scanned' },
  done: { at: 'done' },
  ended: { at: 'ended' },
  expired: { at: 'expired' },
  cancelled: { at: 'cancelled' },
  declined: { at: 'declined' },
}

const EVENTS: Record<string, Event> = {
  unsupported: { type: 'unsupported', why: { kind: 'in_app', app: 'Chat' } },
  'opened new': { type: 'opened', session: { ...session, state: 'OPENED' } },
  'opened with a code': { type: 'opened', session: { ...session, state: 'OPENED', numberNeeded: true } },
  'opened ready': { type: 'opened', session },
  'opened viewer': { type: 'opened', session: viewer('FACE_ACTIVE') },
  'opened desktop': { type: 'opened', session: viewer('HANDOFF_WAIT') },
  'opened after a wrong number': { type: 'opened', session: { ...viewer('HANDOFF_WAIT'), errors: [-33] } },
  'opened over': { type: 'opened', session: ended('COMPLETED') },
  'updated ready': { type: 'updated', session },
  'updated opened': { type: 'updated', session: { ...session, state: 'OPENED' } },
  'updated waiting': { type: 'updated', session: viewer('HANDOFF_WAIT') },
  'updated wrong number': { type: 'updated', session: { ...viewer('HANDOFF_WAIT'), errors: [-33] } },
  'updated viewer': { type: 'updated', session: viewer('READY') },
  'updated done': { type: 'updated', session: ended('COMPLETED') },
  'updated no verdict': { type: 'updated', session: ended('COMPLETED', [-12]) },
  'updated expired': { type: 'updated', session: ended('EXPIRED') },
  'updated cancelled': { type: 'updated', session: ended('CANCELLED', [-17]) },
  'updated declined': { type: 'updated', session: ended('CANCELLED', [-18]) },
  refused: { type: 'refused', problem: 'gone' },
  number_typed: { type: 'number_typed' },
  answered: { type: 'answered' },
  models_awaited: { type: 'models_awaited' },
  camera_asked: { type: 'camera_asked' },
  camera_failed: { type: 'camera_failed', problem: 'in_use' },
  camera_ready: { type: 'camera_ready' },
  captured: { type: 'captured' },
  capture_failed: { type: 'capture_failed', code: -10 },
  'judged again': { type: 'judged', session: { ...session, attempt: 1, errors: [-32] } },
  'judged done': { type: 'judged', session: ended('COMPLETED') },
  'judged comparing': { type: 'judged', session: { ...session, state: 'SERVER_COMPARE' } },
  'judged passkey': { type: 'judged', session: { ...session, state: 'PASSKEY_ACTIVE' } },
  'judged wrong passkey': { type: 'judged', session: { ...session, state: 'PASSKEY_ACTIVE', errors: [-25] } },
  'judged document': { type: 'judged', session: { ...session, state: 'DOC_ACTIVE' } },
  document: { type: 'document', stage: 'show' },
  passkey: { type: 'passkey', status: 'none_here' },
  reopened: { type: 'reopened' },
  handoff_asked: { type: 'handoff_asked' },
  handoff_ready: { type: 'handoff_ready' },
  handoff_refused: { type: 'handoff_refused' },
}

const OPENED = {
  'opened new': 'welcome',
  'opened with a code': 'number',
  'opened ready': 'camera prime',
  'opened viewer': 'viewer face',
  'opened desktop': 'handoff making',
  'opened after a wrong number': 'handoff number_wrong',
  'opened over': 'done',
}
const UPDATED_END = {
  'updated done': 'done',
  'updated no verdict': 'ended',
  'updated expired': 'expired',
  'updated cancelled': 'cancelled',
  'updated declined': 'declined',
}
const RUNNING = {
  ...OPENED,
  ...UPDATED_END,
  'updated waiting': 'handoff making',
  'updated wrong number': 'handoff number_wrong',
  'updated viewer': 'viewer consent',
  refused: 'problem gone',
}
const HANDS_OFF = { ...RUNNING, handoff_asked: 'handoff making' }
const CAMERA = {
  models_awaited: 'capture',
  camera_asked: 'camera asking',
  camera_failed: 'camera in_use',
  camera_ready: 'capture',
}
const AGREED = { models_awaited: 'capture', camera_asked: 'camera asking' }
const WATCHING = {
  ...HANDS_OFF,
  'updated ready': 'camera prime',
  'updated opened': 'welcome',
}
// The other device made a code for a third one: the viewer stays. After a wrong number it leaves.
const { 'updated waiting': _waiting, ...VIEWER } = WATCHING
const HANDOFF = { ...WATCHING, handoff_ready: 'handoff ready', handoff_refused: 'handoff refused' }

const JUDGED = {
  'judged again': 'retry neutral',
  'judged done': 'done',
  'judged comparing': 'sending',
  'judged passkey': 'passkey prime',
  'judged wrong passkey': 'passkey refused',
  'judged document': 'document wait',
}

/** All transitions. Every event that is not listed must leave the state unchanged. */
const MOVES: Record<string, Record<string, string>> = {
  loading: { ...OPENED, unsupported: 'unsupported in_app', refused: 'problem gone', camera_failed: 'camera in_use' },
  problem: { ...OPENED, ...UPDATED_END, reopened: 'loading', refused: 'problem gone' },
  unsupported: {},
  number: { ...RUNNING, number_typed: 'number sending' },
  'number sending': { ...RUNNING, number_typed: 'number sending' },
  welcome: { ...HANDS_OFF, ...AGREED, answered: 'welcome answering' },
  'welcome answering': { ...HANDS_OFF, ...AGREED, answered: 'welcome answering' },
  'camera prime': { ...HANDS_OFF, ...CAMERA },
  'camera asking': { ...HANDS_OFF, ...CAMERA },
  'camera denied': { ...HANDS_OFF, ...CAMERA },
  capture: {
    ...HANDS_OFF,
    camera_asked: 'camera asking',
    captured: 'sending',
    capture_failed: 'retry light',
    camera_failed: 'camera in_use',
  },
  sending: { ...RUNNING, ...JUDGED, capture_failed: 'retry light' },
  retry: { ...HANDS_OFF, ...CAMERA },
  'document choose': { ...HANDS_OFF, ...CAMERA, captured: 'sending', document: 'document show' },
  'passkey prime': { ...HANDS_OFF, ...JUDGED, passkey: 'passkey none_here' },
  'passkey asking': { ...HANDS_OFF, ...JUDGED, passkey: 'passkey none_here' },
  'handoff making': { ...HANDOFF, 'updated waiting': 'handoff making' },
  'handoff ready': { ...HANDOFF, 'updated waiting': 'handoff ready' },
  'handoff refused': { ...HANDOFF, 'updated waiting': 'handoff refused' },
  'handoff number_wrong': { ...HANDOFF, 'updated waiting': 'handoff number_wrong' },
  viewer: VIEWER,
  done: {},
  ended: {},
  expired: {},
  cancelled: {},
  declined: {},
}

function nameOf(state: State): string {
  switch (state.at) {
    case 'problem':
      return `problem ${state.problem}`
    case 'unsupported':
      return `unsupported ${state.why.kind}`
    case 'number':
      return state.sending ? 'number sending' : 'number'
    case 'welcome':
      return state.answering ? 'welcome answering' : 'welcome'
    case 'camera':
    case 'handoff':
    case 'passkey':
      return `${state.at} ${state.status}`
    case 'retry':
      return `retry ${state.tip}`
    case 'document':
    case 'viewer':
      return `${state.at} ${state.stage}`
    default:
      return state.at
  }
}

for (const [name, state] of Object.entries(STATES)) {
  test(`on "${name}" exactly the listed events change the state`, () => {
    for (const [what, event] of Object.entries(EVENTS)) {
      const expected = MOVES[name]?.[what] ?? nameOf(state)
      assert.equal(nameOf(next(state, event)), expected, `${name} + ${what}`)
    }
  })
}

test('an ignored event returns the same object, so that nothing is rendered again', () => {
  const capture = STATES.capture ?? START
  assert.equal(next(capture, { type: 'answered' }), capture)
  assert.equal(next(capture, { type: 'updated', session }), capture)
})

test('the table of this test knows every state and every event type', () => {
  assert.deepEqual(Object.keys(MOVES).sort(), Object.keys(STATES).sort())
  for (const row of Object.values(MOVES)) for (const what of Object.keys(row)) assert.ok(what in EVENTS, what)
})

test('no event leaves an end screen', () => {
  for (const at of ['done', 'ended', 'expired', 'cancelled', 'declined'] as const)
    for (const event of Object.values(EVENTS)) assert.deepEqual(next({ at }, event), { at })
})
