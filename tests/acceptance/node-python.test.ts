import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Area E from another language: the client that integrators can copy, with Python's own JWE and HKDF. */
function setting(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: run this with npm run acceptance`)
  return value
}

// Debian's own: another python3 on the PATH does not see Debian's packages.
const PYTHON = '/usr/bin/python3'
const CLIENT = fileURLToPath(new URL('./python/ostiary_node.py', import.meta.url))
const VECTORS = fileURLToPath(new URL('../../docs/node-test-vectors.json', import.meta.url))
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Only what is named here reaches the client: no proxy of this machine stands between it and the system. */
async function python(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(PYTHON, args, { env, timeout: 180_000 })
  return stdout
}

before(async () => {
  const missing = await python(['-c', 'import cryptography, jwcrypto']).then(
    () => false,
    () => true,
  )
  assert.ok(
    !missing,
    `${PYTHON} lacks jwcrypto: run tools/bootstrap, which installs the Debian package python3-jwcrypto`,
  )
})

test('[E-004] [E-016] [E-017] [E-020] [E-023] [E-029] [E-037] [E-038] [E-039] [E-040] [E-042] [E-043] [E-052] a Python client enrols, recognises and deletes a user through the encrypted calls', async () => {
  const printed = await python([CLIENT], {
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
    predict_deleted: { status: -1, message: 'User not enrolled', puid: '-1', guid: '-1', score: '-1' },
  })
})

test('the Python client makes and opens the published test vectors, and refuses those that must not open', async () => {
  assert.match(await python([CLIENT, '--vectors', VECTORS]), /^([1-9]\d*) of \1 test vectors passed\n$/)
})
