import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VERIFICATION_STATES } from '@ostiary/contract'
import { AppError } from '../platform/errors.ts'
import { canHappen, flowStatusOf, isFinal, nextState } from './machine.ts'
import { SESSION_EVENTS, type SessionEvent, type SessionState } from './states.ts'

/** Every transition, written by hand: from, event, to. The three events that end a session follow, the same for all states. */
const ALLOWED = `
CREATED open OPENED
CREATED open_on_desktop HANDOFF_WAIT
OPENED open OPENED
OPENED consent_given CONSENTED
OPENED consent_declined CANCELLED
OPENED handoff_asked HANDOFF_WAIT
OPENED give_up FAILED
HANDOFF_WAIT open_on_desktop HANDOFF_WAIT
HANDOFF_WAIT handoff_asked HANDOFF_WAIT
HANDOFF_WAIT handoff_opened OPENED
CONSENTED open CONSENTED
CONSENTED camera_ready FACE_ACTIVE
CONSENTED handoff_asked HANDOFF_WAIT
CONSENTED give_up FAILED
FACE_ACTIVE open CONSENTED
FACE_ACTIVE camera_ready FACE_ACTIVE
FACE_ACTIVE document_needed DOC_ACTIVE
FACE_ACTIVE compare_locally LOCAL_COMPARE
FACE_ACTIVE compare_on_server SERVER_COMPARE
FACE_ACTIVE passkey_needed PASSKEY_ACTIVE
FACE_ACTIVE finalize FINALIZING
FACE_ACTIVE retry CONSENTED
FACE_ACTIVE give_up FAILED
FACE_ACTIVE handoff_asked HANDOFF_WAIT
DOC_ACTIVE open CONSENTED
DOC_ACTIVE retry DOC_ACTIVE
DOC_ACTIVE document_read MATCHING
DOC_ACTIVE handoff_asked HANDOFF_WAIT
DOC_ACTIVE give_up FAILED
MATCHING open MATCHING
MATCHING retry DOC_ACTIVE
MATCHING passkey_needed PASSKEY_ACTIVE
MATCHING finalize FINALIZING
MATCHING give_up FAILED
LOCAL_COMPARE open LOCAL_COMPARE
LOCAL_COMPARE compare_on_server SERVER_COMPARE
LOCAL_COMPARE vector_needed FACE_ACTIVE
LOCAL_COMPARE passkey_needed PASSKEY_ACTIVE
LOCAL_COMPARE recognised SUCCESS
LOCAL_COMPARE retry CONSENTED
LOCAL_COMPARE give_up FAILED
SERVER_COMPARE open SERVER_COMPARE
SERVER_COMPARE passkey_needed PASSKEY_ACTIVE
SERVER_COMPARE recognised SUCCESS
SERVER_COMPARE retry CONSENTED
SERVER_COMPARE give_up FAILED
PASSKEY_ACTIVE open PASSKEY_ACTIVE
PASSKEY_ACTIVE finalize FINALIZING
PASSKEY_ACTIVE recognised SUCCESS
PASSKEY_ACTIVE retry PASSKEY_ACTIVE
PASSKEY_ACTIVE handoff_asked HANDOFF_WAIT
PASSKEY_ACTIVE give_up FAILED
FINALIZING open FINALIZING
FINALIZING passkey_needed PASSKEY_ACTIVE
FINALIZING recognised SUCCESS
FINALIZING retry CONSENTED
FINALIZING give_up FAILED
`
  .trim()
  .split('\n')
  .map((line) => line.split(' ') as [SessionState, SessionEvent, SessionState])

const ENDINGS: Partial<Record<SessionEvent, SessionState>> = {
  user_cancelled: 'CANCELLED',
  host_cancelled: 'CANCELLED',
  expired: 'EXPIRED',
}
const FINAL: readonly SessionState[] = ['SUCCESS', 'FAILED', 'CANCELLED', 'EXPIRED']
const at = (state: SessionState) => ({ area: 'verification', state }) as const

test('every pair of state and event leads to the state in the table, or is refused', () => {
  for (const state of VERIFICATION_STATES) {
    for (const event of SESSION_EVENTS) {
      const named = ALLOWED.find(([from, what]) => from === state && what === event)?.[2]
      const expected = FINAL.includes(state) ? undefined : (named ?? ENDINGS[event])
      assert.equal(canHappen(at(state), event), expected !== undefined, `${state} ${event}`)
      if (expected) assert.equal(nextState(at(state), event), expected, `${state} ${event}`)
      else {
        assert.throws(
          () => nextState(at(state), event),
          (error) => error instanceof AppError && error.status === 409 && error.code === 'SESSION_NOT_OPEN',
          `${state} ${event}`,
        )
      }
    }
  }
})

test('four states end a flow; in the contract a success and a failure are both COMPLETED', () => {
  assert.deepEqual(VERIFICATION_STATES.filter(isFinal), FINAL)
  assert.deepEqual(FINAL.map(flowStatusOf), ['COMPLETED', 'COMPLETED', 'CANCELLED', 'EXPIRED'])
  assert.equal(flowStatusOf('SERVER_COMPARE'), null)
})

test('every state can be reached from the first one', () => {
  const reached = new Set<SessionState>(['CREATED'])
  for (const state of reached) {
    for (const event of SESSION_EVENTS) if (canHappen(at(state), event)) reached.add(nextState(at(state), event))
  }
  assert.deepEqual([...reached].sort(), [...VERIFICATION_STATES].sort())
})

test('a state of the other area has no transition', () => {
  assert.equal(canHappen({ area: 'verification', state: 'READY' }, 'camera_ready'), false)
  assert.equal(canHappen({ area: 'age', state: 'CONSENTED' }, 'camera_ready'), false)
})
