/** Area E from another language: the client that integrators install, with the libraries of that language. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setting } from '@ostiary/testkit/setting'
import { PYTHON, python, run } from './clients/languages.ts'

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

before(async () => {
  const isThere = await run([PYTHON, '-c', 'import cryptography'], {}).then(
    () => true,
    () => false,
  )
  assert.ok(isThere, `${PYTHON} lacks cryptography: run tools/bootstrap, which installs Debian's packages`)
})

test('[E-004] [E-016] [E-017] [E-020] [E-023] [E-029] [E-037] [E-038] [E-039] [E-040] [E-042] [E-043] [E-052] a Python client enrols, recognises and deletes a user through the encrypted calls', async () => {
  const printed = await run(python.program('node_calls'), {
    ...python.env,
    OSTIARY_URL: setting('OSTIARY_URL'),
    OSTIARY_API_KEY: setting('OSTIARY_TEST_KEY_ONE'),
  })
  const outcome = JSON.parse(printed)

  const { puid, guid } = outcome.enroll
  assert.match(puid, ID)
  assert.match(guid, ID)
  // How alike two pictures are depends on chance: the score has only to be on the right side of the threshold.
  const { score } = outcome.predict
  assert.ok(typeof score === 'number' && score >= 0.5 && score <= 1, `score ${score}`)

  const user = { puid, guid, score }
  const recognised = { status: 0, message: 'Ok', enroll_level: 2, ...user }
  const refused = {
    http_status: 400,
    status: -2,
    message: 'Features could not be decrypted: the envelope does not open with this API key',
  }
  assert.deepEqual(outcome, {
    enroll: { status: 0, message: 'Ok', enroll_level: 2, puid, guid, score: 1 },
    enroll_again: { ...recognised, message: 'User Already Enrolled' },
    predict: recognised,
    predict_five: { status: 0, message: 'Ok', PI_list: [user] },
    predict_named: recognised,
    enroll_other_key: refused,
    predict_other_key: refused,
    delete: { status: 200, message: 'delete successful' },
    delete_again: false,
    predict_deleted: { status: -1, message: 'User not enrolled', puid: '-1', guid: '-1', score: '-1' },
  })
})
