import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as codes from './codes.ts'
import {
  CAMERA_FAIL_REASONS,
  DEVICE_REPORTABLE,
  findSessionCodeName,
  RETIRED_SESSION_CODES,
  SESSION_CODE_NAMES,
  SESSION_CODES,
  withSpoof,
} from './session-codes.ts'

/** Typed from the reference of codes, not from the table. */
const REFERENCE = `
1 SPOOF F*
2 VIDEO_SPOOF F
-5 DESKTOP F*
-6 UNSUPPORTED_BROWSER D
-7 CAMERA_FAIL F*
-8 SESSION_EXPIRED F
-9 FACE_NOT_MATCH F*
-10 LOW_LIGHT F*
-11 MULTIPLE_FACES F*
-12 NO_FACE F*
-14 UNAUTHORIZED_CALLBACK F
-15 TOKEN_ALREADY_USED F
-16 DEVICE_MISMATCH F
-17 USER_CANCELLED F
-18 CONSENT_DECLINED F
-19 ATTEMPTS_EXCEEDED F
-20 MODEL_LOAD_FAILED F*
-21 NETWORK_LOST D
-22 FACE_SCAN_ERROR D
-23 DOCUMENT_SCAN_ERROR D
-24 SESSION_LOAD_FAILED D
-25 PASSKEY_FAILED F*
-26 DOCUMENT_EXPIRED F*
-27 DOCUMENT_UNREADABLE F*
-28 DOCUMENT_UNSUPPORTED F*
-29 DOCUMENT_TAMPERED F
-30 DOB_NOT_FOUND F*
-31 FACE_OBSTRUCTED D
-32 LIVENESS_INCONCLUSIVE F*
-33 HANDOFF_EXPIRED D
-34 POLICY_BLOCKED F
-35 TEMPORARILY_LOCKED F
-36 USER_NOT_ENROLLED F
-37 ALREADY_ENROLLED D
-38 HOST_CANCELLED F
-39 QUALITY_LOW D
-100 INTERNAL F
`

test('the table has every code of the reference with its name and kind', () => {
  assert.deepEqual(
    SESSION_CODE_NAMES.map((name) => `${SESSION_CODES[name].code} ${name} ${SESSION_CODES[name].kind}`),
    REFERENCE.trim().split('\n'),
  )
})

test('each number is a constant of its own, under the name of its code', () => {
  assert.deepEqual({ ...codes }, Object.fromEntries(SESSION_CODE_NAMES.map((name) => [name, SESSION_CODES[name].code])))
})

test('a number finds its name; retired and unknown numbers find none', () => {
  for (const name of SESSION_CODE_NAMES) assert.equal(findSessionCodeName(SESSION_CODES[name].code), name)
  for (const code of [0, -1, -2, -13, -40, 152, Number.NaN]) assert.equal(findSessionCodeName(code), undefined)
  assert.deepEqual(RETIRED_SESSION_CODES, { '-13': 'SESSION_EXPIRED' })
})

test('a device may report these codes and no others', () => {
  assert.deepEqual(
    DEVICE_REPORTABLE.map((name) => SESSION_CODES[name].code),
    [1, -6, -7, -10, -11, -12, -20, -21, -22, -23, -27, -28, -30, -25, -31, -32, -39],
  )
})

test('the camera fails for one of seven reasons', () => {
  assert.deepEqual(Object.keys(CAMERA_FAIL_REASONS), [
    'permission_denied',
    'not_found',
    'in_use',
    'constraints',
    'insecure_context',
    'policy_blocked',
    'track_ended',
  ])
})

test('both kinds of spoof have the text of the specification, so that the text does not tell which cue failed', () => {
  assert.equal(SESSION_CODES.SPOOF.message, 'Image spoof')
  assert.equal(SESSION_CODES.VIDEO_SPOOF.message, 'Image spoof')
})

test('[C-050] [D-059] a session that ends with 2 carries 1 before it; -32 is no spoof', () => {
  assert.deepEqual(withSpoof(['VIDEO_SPOOF']), ['SPOOF', 'VIDEO_SPOOF'])
  assert.deepEqual(withSpoof(['POLICY_BLOCKED', 'VIDEO_SPOOF', 'SPOOF']), ['SPOOF', 'POLICY_BLOCKED', 'VIDEO_SPOOF'])
  for (const others of [['SPOOF', 'ATTEMPTS_EXCEEDED'], ['LIVENESS_INCONCLUSIVE'], []] as const)
    assert.deepEqual(withSpoof(others), others)
})

test('every code says in sentences what it means and what to do', () => {
  for (const name of SESSION_CODE_NAMES) {
    const { message, meaning, host } = SESSION_CODES[name]
    assert.match(message, /^[A-Z][^.]*$/, name)
    for (const text of [meaning, host]) assert.match(text, /^[A-Z].*\.$/, name)
  }
})
