import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchSeals } from '@ostiary/testkit/browser/seals'
import { hostOf } from '@ostiary/testkit/browser/system'
import { takeFaceCheck } from '@ostiary/testkit/browser/visit'
import { newVisitor, prepareCameraBrowser, WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'

prepareCameraBrowser()
const host = hostOf('OSTIARY_TEST_KEY_ONE')

test(
  '[C-004] [C-005] the page encrypts its outcome: the session id and an age estimate are inside, and the body shows neither estimate nor frames',
  WHOLE_FLOW,
  async (t) => {
    const { visit, device, camera } = await newVisitor(t, { form: 'phone' })
    const seals = await watchSeals(device.context)
    const { launchUrl, sessionId } = await host.create()
    await visit.open(launchUrl)
    // A slow machine may need a second or third capture: each one is sent in the same way, whatever the verdict is.
    await takeFaceCheck(visit, camera)

    const submits = device.proxy.requests.filter(({ path }) => path.endsWith('/submit'))
    const payloads = seals.of(sessionId)
    assert.ok(submits.length > 0, 'the page sent no outcome')
    assert.deepEqual([payloads.length, seals.all.length], [submits.length, submits.length], 'one payload for each body')
    for (const { estimate, ...payload } of payloads) {
      assert.ok(estimate && estimate.age > 0 && estimate.frames > 0, 'there is no estimate')
      assert.deepEqual(
        Object.keys(payload).filter((name) => !OTHER_FIELDS.includes(name)),
        [],
      )
    }
    for (const [index, { status, body }] of submits.entries()) {
      assert.equal(status, 200, 'the service could not open it')
      checkUnreadable(body, [payloads[index]?.nonce ?? assert.fail('no nonce'), ...CLEAR_TEXT])
    }
  },
)

/** What docs/internal/launch.md names beside the estimate. */
const OTHER_FIELDS = 'v sessionId nonce attempt model live frames log indicators browser metadata'.split(' ')
const CLEAR_TEXT = ['"estimate"', '"age"', '"frames"', '"live"', '"nonce"']

/** The body names its session and holds one JWE: a header with the public half of a key that was made for it, and ciphertext. */
function checkUnreadable(body: Buffer, secrets: readonly string[]): void {
  const { sealed, ...rest } = JSON.parse(body.toString())
  assert.deepEqual(Object.keys(rest), ['sessionId'])
  const parts = String(sealed).split('.')
  assert.equal(parts.length, 5, 'not a JWE in its compact form')
  const [header = '', , , ciphertext = ''] = parts.map((part) => Buffer.from(part, 'base64url').toString('latin1'))
  const { alg, enc, epk } = JSON.parse(header)
  assert.deepEqual([alg, enc, Object.keys(epk).sort()], ['ECDH-ES', 'A256GCM', ['crv', 'kty', 'x', 'y']])
  assert.ok(ciphertext.length > 0)
  const sent = [body.toString(), header, ciphertext].join('\n')
  for (const secret of secrets) assert.ok(!sent.includes(secret), `${secret} can be read`)
}
