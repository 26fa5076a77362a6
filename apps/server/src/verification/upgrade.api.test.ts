import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFaces } from '../biometrics/testing/faces.ts'
import { isPurged } from '../sessions/index.ts'
import { openPart, sealPart } from '../sessions/sealing.ts'
import { type OwnProgress, verificationOf } from './progress.ts'
import { createVerificationHost } from './testing/fixture.ts'
import { enrolled, reachCapture, visit } from './testing/people.ts'

const faces = createFaces(41)
const { fixture, host } = await createVerificationHost()

/** The sealed progress of a session as the column holds it, and a way to replace it. */
async function storedProgress(sessionId: string) {
  const { wire, database } = fixture.harness
  const session = await wire.sessions.service.find(sessionId)
  assert.ok(session && !isPurged(session))
  const { rows } = await database.query('select progress from session_secrets where session_id = $1', [sessionId])
  const stored = JSON.parse(openPart(session.dataKey, sessionId, 'progress', rows[0].progress).toString())
  return {
    stored,
    async replace(progress: object) {
      const sealed = sealPart(session.dataKey, sessionId, 'progress', Buffer.from(JSON.stringify(progress)))
      await database.query('update session_secrets set progress = $2 where session_id = $1', [sessionId, sealed])
    },
  }
}

/** Every member of the progress of the last release, area D's own below `verification`. */
const LAST_RELEASE =
  `attempt behaviour challenge codes consent desktop face failures flags handoff handoffs holder indicators locale log
  mismatches sealKey usedNonces verification viewer`.split(/\s+/)
const LAST_RELEASE_OWN =
  `claim claimedFor cleared counted credential debug estimateYears localKey localThumbprint newPersonId notes
  passkey passkeyShown passkeyTries person selfie subjects vector workId`.split(/\s+/)

/** Null, or zero, in sessions without tokens. The last release keeps members that it does not know, and reads none of them. */
const ADDED_OWN = ['successor', 'token', 'tokenEnrolments']

test('a session that the last release has started continues in this one, and is stored in the format of the last release', async () => {
  const { sessionId } = await host.create('ENROLL')
  const { user, capture } = await reachCapture(fixture, sessionId, { vector: faces.person() })
  const { stored, replace } = await storedProgress(sessionId)
  assert.deepEqual(Object.keys(stored).toSorted(), LAST_RELEASE.toSorted())
  assert.deepEqual(Object.keys(stored.verification).toSorted(), [...LAST_RELEASE_OWN, ...ADDED_OWN].toSorted())
  assert.deepEqual([stored.verification.token, stored.verification.successor], [null, null])
  assert.equal(stored.face, null)
  // The oldest sessions that can be open do not have the members that were added since.
  const {
    passkeyShown: _shown,
    cleared: _cleared,
    token: _token,
    successor: _next,
    tokenEnrolments: _tries,
    ...verification
  } = stored.verification
  await replace({ ...stored, verification })
  assert.equal((await user.device.submit(capture)).state, 'SUCCESS')
  assert.equal((await host.webhook(sessionId)).status, 'SUCCESS')
})

test('a test session whose capture the last release took signs in with the enrolled vector, as it would have there', async () => {
  const face = faces.person()
  const puid = await enrolled(fixture, host, face)
  const { sessionId } = await host.create('SIGN-IN')
  const { user, capture, nonce } = await reachCapture(fixture, sessionId, { vector: face })
  const { service } = fixture.harness.wire.sessions
  await service.whileLocked(sessionId, async (tx, session) => {
    assert.ok(!isPurged(session) && session.progress)
    const { isSimulated: _none, ...own } = verificationOf(session.progress as OwnProgress)
    const taken = { ...own, workId: nonce, vector: capture.face?.vector ?? null }
    await service.save(tx, session, { state: 'SERVER_COMPARE', progress: { ...session.progress, own: taken } })
  })
  assert.equal((await user.device.open()).state, 'SUCCESS')
  assert.equal((await host.webhook(sessionId)).puid, puid)
})

test('[D-059] the body that the last release has stored of a spoof is read as it was sent, with 2 alone', async () => {
  const { wire, database } = fixture.harness
  const { sessionId } = await host.create('SIGN-IN')
  await visit(fixture, sessionId, faces.person(), { spoof: 'loop' })
  const session = await wire.sessions.service.find(sessionId)
  assert.ok(session && !isPurged(session) && session.result)
  const { webhook, debugLog } = JSON.parse(session.result.toString())
  const errors = [{ code: 2, message: 'Image spoof' }]
  const sent = { ...webhook, errors, errorCodes: [2] }
  const bytes = Buffer.from(JSON.stringify({ webhook: sent, debugLog }))
  const sealed = sealPart(session.dataKey, sessionId, 'result', bytes)
  await database.query('update session_secrets set result = $2 where session_id = $1', [sessionId, sealed])
  assert.deepEqual(await host.webhook(sessionId), sent)
})
