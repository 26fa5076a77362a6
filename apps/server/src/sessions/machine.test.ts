import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AGE_STATES } from '@ostiary/contract'
import { AppError } from '../platform/errors.ts'
import { canHappen, flowStatusOf, isFinal, nextState } from './machine.ts'
import { SESSION_EVENTS, type SessionEvent, type SessionState } from './states.ts'

/** Every transition, written by hand: from, event, to. */
const ALLOWED = `
CREATED open OPENED
CREATED open_on_desktop HANDOFF_WAIT
OPENED open OPENED
OPENED consent_given READY
OPENED consent_declined CANCELLED
OPENED handoff_asked HANDOFF_WAIT
HANDOFF_WAIT open_on_desktop HANDOFF_WAIT
HANDOFF_WAIT handoff_asked HANDOFF_WAIT
HANDOFF_WAIT handoff_opened OPENED
READY open READY
READY camera_ready FACE_ACTIVE
READY document_needed DOC_ACTIVE
READY handoff_asked HANDOFF_WAIT
READY give_up EVALUATING
FACE_ACTIVE open READY
FACE_ACTIVE camera_ready FACE_ACTIVE
FACE_ACTIVE estimated FACE_DONE
FACE_ACTIVE retry READY
FACE_ACTIVE give_up EVALUATING
FACE_ACTIVE handoff_asked HANDOFF_WAIT
FACE_DONE document_needed DOC_ACTIVE
FACE_DONE compare_faces MATCHING
FACE_DONE no_more_steps EVALUATING
DOC_ACTIVE open DOC_ACTIVE
DOC_ACTIVE retry DOC_ACTIVE
DOC_ACTIVE document_read DOC_DONE
DOC_ACTIVE handoff_asked HANDOFF_WAIT
DOC_ACTIVE give_up EVALUATING
DOC_DONE open DOC_DONE
DOC_DONE handoff_asked HANDOFF_WAIT
DOC_DONE give_up EVALUATING
DOC_DONE camera_ready FACE_ACTIVE
DOC_DONE compare_faces MATCHING
DOC_DONE no_more_steps EVALUATING
MATCHING retry DOC_ACTIVE
MATCHING no_more_steps EVALUATING
MATCHING give_up EVALUATING
EVALUATING decided COMPLETED
`
  .trim()
  .split('\n')
  .map((line) => line.split(' ') as [SessionState, SessionEvent, SessionState])

const at = (state: SessionState) => ({ area: 'age', state }) as const
const ENDINGS: Partial<Record<SessionEvent, SessionState>> = {
  user_cancelled: 'CANCELLED',
  host_cancelled: 'CANCELLED',
  expired: 'EXPIRED',
}
const FINAL: readonly SessionState[] = ['COMPLETED', 'CANCELLED', 'EXPIRED']

test('every pair of state and event leads to the state in the table, or is refused', () => {
  for (const state of AGE_STATES) {
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

test('[C-038] the states that end a flow are the three of the contract, and no event leads out of them', () => {
  assert.deepEqual(AGE_STATES.filter(isFinal), FINAL)
  assert.deepEqual(FINAL.map(flowStatusOf), FINAL)
  for (const state of FINAL) assert.ok(!SESSION_EVENTS.some((event) => canHappen(at(state), event)), state)
})

test('every state can be reached from the first one', () => {
  const reached = new Set<SessionState>(['CREATED'])
  for (const state of reached) {
    for (const event of SESSION_EVENTS) if (canHappen(at(state), event)) reached.add(nextState(at(state), event))
  }
  assert.deepEqual([...reached].sort(), [...AGE_STATES].sort())
})
