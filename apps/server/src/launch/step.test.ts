import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DEVICE_REPORTABLE, SESSION_CODES, type SessionCodeName } from '@ostiary/contract'
import { AppError } from '../platform/errors.ts'
import {
  type DocumentProgress,
  documentOf,
  newProgress,
  notAtThisStep,
  type SessionState,
  withDocument,
} from '../sessions/index.ts'
import { findIssuedChallenge } from './attempts.ts'
import { failLook, failTry, noted, reportedFailure } from './step.ts'
import { NOW, sessionAt } from './testing/session.ts'

/** The codes of a failure, as an age check has them. */
const rules = {
  failuresOf: (name: SessionCodeName, noTryLeft: boolean): SessionCodeName[] =>
    noTryLeft ? [name, 'ATTEMPTS_EXCEEDED'] : [name],
  passkeyFailed(): never {
    throw notAtThisStep()
  },
  documentFailed: () => {},
}
const triedAt = (state: SessionState, attempt: number) => ({ ...sessionAt(state), progress: tried(attempt) })
const tried = (attempt: number) => ({ ...newProgress('en'), attempt })

describe('a recorded failure', () => {
  test('is listed once, with its last reason, ordered by its last report', () => {
    const once = noted(tried(1), 'CAMERA_FAIL', 'in_use')
    const twice = noted(noted(once, 'NETWORK_LOST'), 'CAMERA_FAIL', 'not_found')
    assert.deepEqual(twice.failures, [{ name: 'NETWORK_LOST' }, { name: 'CAMERA_FAIL', reason: 'not_found' }])
    assert.deepEqual(once.failures, [{ name: 'CAMERA_FAIL', reason: 'in_use' }], 'the one before is left alone')
  })

  test('is not removed by any number of other reports', () => {
    let progress = noted(tried(1), 'DESKTOP')
    for (let times = 0; times < 100; times++) {
      for (const name of DEVICE_REPORTABLE) progress = noted(progress, name)
    }
    assert.deepEqual(progress.failures[0], { name: 'DESKTOP' })
    assert.equal(progress.failures.length, DEVICE_REPORTABLE.length + 1)
  })
})

describe('a try that failed', () => {
  test('leads to another try without its challenge, while tries are left', () => {
    const challenge = { nonce: 'n', steps: [], sampleAtMs: [], expiresAtMs: 1, submits: 1 }
    for (const attempt of [1, 2]) {
      const step = failTry(rules, sessionAt('FACE_ACTIVE'), { ...tried(attempt), challenge }, 'SPOOF')
      assert.deepEqual(step, { state: 'READY', progress: tried(attempt), errors: [1] })
    }
  })

  test('ends the flow when it was the last, with -19 after its own code', () => {
    const step = failTry(rules, sessionAt('FACE_ACTIVE'), tried(3), 'LIVENESS_INCONCLUSIVE')
    assert.deepEqual(step.end, { how: 'failed', failures: ['LIVENESS_INCONCLUSIVE', 'ATTEMPTS_EXCEEDED'] })
    assert.deepEqual(step.errors, [-32])
  })

  test('ends the flow immediately when its code is fatal', () => {
    const step = failTry(rules, sessionAt('FACE_ACTIVE'), tried(1), 'VIDEO_SPOOF')
    assert.deepEqual(step.end, { how: 'failed', failures: ['VIDEO_SPOOF'] })
  })
})

describe('a failure that a device reports', () => {
  const isRefused = (code: string) => (error: unknown) => error instanceof AppError && error.code === code

  test('never leads to a verdict, at any step and with any code', () => {
    for (const state of [...MAY_FAIL, ...MAY_NOT]) {
      for (const name of DEVICE_REPORTABLE) {
        const { code, kind } = SESSION_CODES[name]
        const report = () => reportedFailure(rules, triedAt(state, 3), { code })
        const isMisplaced = OF_DOCUMENT.includes(name) ? state !== 'DOC_ACTIVE' : !MAY_FAIL.includes(state)
        if (kind === 'F*' && (isMisplaced || name === 'PASSKEY_FAILED'))
          assert.throws(report, isRefused('SESSION_NOT_OPEN'), `${state} ${name}`)
        else {
          const { end, progress } = report()
          assert.equal(progress.own, null)
          assert.ok(end === undefined || (end.how === 'failed' && end.failures.includes(name)), `${state} ${name}`)
        }
      }
    }
  })

  test('with a code that a device may not report is refused', () => {
    for (const code of [0, 2, -5, -8, -9, -15, -17, -34, -100]) {
      const report = () => reportedFailure(rules, triedAt('FACE_ACTIVE', 1), { code })
      assert.throws(report, isRefused('VALIDATION_FAILED'), `${code}`)
    }
  })

  test('before a challenge counts as a try', () => {
    assert.equal(reportedFailure(rules, triedAt('READY', 0), { code: -7, reason: 'in_use' }).progress.attempt, 1)
    assert.equal(reportedFailure(rules, triedAt('FACE_ACTIVE', 1), { code: -7, reason: 'in_use' }).progress.attempt, 1)
    assert.ok(reportedFailure(rules, triedAt('READY', 2), { code: -7, reason: 'in_use' }).end)
  })
})

describe('a failure that a device reports in the document step', () => {
  const at = (document: Partial<DocumentProgress>, more: object = {}) => ({
    ...sessionAt('DOC_ACTIVE'),
    progress: { ...withDocument(tried(2), document), ...more },
  })
  const look = { nonce: 'n', steps: [], sampleAtMs: [], expiresAtMs: 1, submits: 0, isLook: true as const }

  test('uses up a try of that step when the document gave nothing, and no try of the face', () => {
    for (const code of [-27, -28, -30]) {
      const { state, progress, errors } = reportedFailure(rules, at({ tries: 1 }), { code })
      assert.deepEqual([state, errors, progress.attempt], ['DOC_ACTIVE', [code], 2])
      assert.equal(documentOf(progress).tries, 2)
      const last = reportedFailure(rules, at({ tries: 2 }), { code })
      assert.equal(last.end?.how, 'failed')
    }
  })

  test('counts once, however often it is reported', () => {
    const again = reportedFailure(rules, at({ tries: 1 }), { code: -27, attempt: 1 })
    assert.equal(documentOf(again.progress).tries, 1)
    assert.equal(documentOf(reportedFailure(rules, at({ tries: 1 }), { code: -27, attempt: 2 }).progress).tries, 2)
  })

  test('costs a look while one is under way, and otherwise nothing', () => {
    const during = reportedFailure(rules, at({ looks: 1 }, { challenge: look }), { code: -10 })
    assert.deepEqual([during.state, during.progress.challenge, during.end], ['DOC_ACTIVE', null, undefined])
    const before = reportedFailure(rules, at({ looks: 6 }), { code: -7, reason: 'in_use' })
    assert.deepEqual([before.errors, before.end], [[-7], undefined])
    const { tries, looks } = documentOf(before.progress)
    assert.deepEqual([before.progress.attempt, tries, looks], [2, 0, 6])
  })

  test('ends the flow with the sixth look, and at once where the face is an attack', () => {
    const sixth = failLook(rules, sessionAt('DOC_ACTIVE'), withDocument(tried(1), { looks: 6 }), 'NO_FACE')
    assert.deepEqual(sixth.end, { how: 'failed', failures: ['NO_FACE', 'ATTEMPTS_EXCEEDED'] })
    const attack = failLook(rules, sessionAt('DOC_ACTIVE'), withDocument(tried(1), { looks: 1 }), 'VIDEO_SPOOF')
    assert.deepEqual(attack.end, { how: 'failed', failures: ['VIDEO_SPOOF'] })
  })
})

describe('a call that is repeated because its reply was lost', () => {
  // The last picture is taken after 10 seconds, and the device needs the rest to compute.
  const open = { nonce: 'n', steps: [], sampleAtMs: [10_000], expiresAtMs: NOW.getTime() + 30_000, submits: 0 }
  const again = (state: SessionState, progress: object, wantedAttempt: number | undefined) =>
    findIssuedChallenge(
      { state, progress: { ...tried(2), challenge: open, ...progress } },
      { wantedAttempt, isLook: false, now: NOW },
    )

  test('gets the challenge of its try again, as long as the challenge was not used', () => {
    const expiresAt = new Date(open.expiresAtMs).toISOString()
    assert.deepEqual(again('FACE_ACTIVE', {}, 2), {
      nonce: 'n',
      attempt: 2,
      steps: [],
      sampleAtMs: [10_000],
      expiresAt,
    })
    assert.equal(again('FACE_ACTIVE', {}, 3), undefined, 'another try')
    assert.equal(again('FACE_ACTIVE', {}, undefined), undefined, 'no try is named')
    assert.equal(again('READY', {}, 2), undefined)
    assert.equal(again('FACE_ACTIVE', { challenge: null }, 2), undefined)
    assert.equal(again('FACE_ACTIVE', { challenge: { ...open, submits: 1 } }, 2), undefined)
    assert.equal(again('FACE_ACTIVE', { challenge: { ...open, expiresAtMs: NOW.getTime() + 29_999 } }, 2), undefined)
  })

  test('counts its failure once, during the try and before it', () => {
    const report = (state: SessionState, attempts: number, attempt: number) =>
      reportedFailure(rules, triedAt(state, attempts), { code: -7, attempt })
    assert.equal(report('FACE_ACTIVE', 1, 1).state, 'READY')
    for (const [attempts, attempt] of [
      [1, 1],
      [2, 1],
      [3, 3],
    ] as const) {
      const step = report('READY', attempts, attempt)
      assert.deepEqual([step.state, step.progress.attempt, step.end], ['READY', attempts, undefined])
      assert.deepEqual(step.errors, [-7])
    }
    assert.equal(report('READY', 1, 2).progress.attempt, 2)
    assert.ok(report('READY', 2, 3).end)
    assert.equal(report('FACE_ACTIVE', 2, 1).state, 'FACE_ACTIVE', 'an older one leaves the try under way alone')
    assert.throws(
      () => report('EVALUATING', 1, 1),
      (error: unknown) => error instanceof AppError && error.code === 'SESSION_NOT_OPEN',
    )
  })
})

const MAY_FAIL: readonly SessionState[] = ['READY', 'FACE_ACTIVE', 'DOC_ACTIVE', 'DOC_DONE']
const MAY_NOT: readonly SessionState[] = ['CREATED', 'OPENED', 'HANDOFF_WAIT', 'FACE_DONE', 'MATCHING', 'EVALUATING']
const OF_DOCUMENT: readonly SessionCodeName[] = ['DOCUMENT_UNREADABLE', 'DOCUMENT_UNSUPPORTED', 'DOB_NOT_FOUND']
