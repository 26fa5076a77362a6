import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BUILT_IN_MODELS, normalise } from '../biometrics/index.ts'
import { createFaces } from '../biometrics/testing/faces.ts'
import { createVerificationHost } from './testing/fixture.ts'
import { enrolled, visit } from './testing/people.ts'

const faces = createFaces(97)
const { fixture, host } = await createVerificationHost()

const group = () => ({ tenantId: host.tenantId, livemode: false })
const personsOf = async () => {
  const text = 'select count(*)::int as count from face_persons where tenant_id = $1'
  return (await fixture.harness.database.query(text, [host.tenantId])).rows[0]?.count
}

describe('the host’s own name for a person', () => {
  test('is refused when its person is enrolled with another model only, and that person does not change', async () => {
    const { enrolment, recognition } = fixture.harness.wire.biometrics
    const unit = normalise(faces.person('FACE3_1'))
    assert.ok(unit)
    const known = await enrolment.enrol(group(), {
      model: BUILT_IN_MODELS.FACE3_1,
      vectors: [unit],
      externalId: 'named-by-area-e',
    })
    const { sessionId } = await host.create('ENROLL', { customerId: 'named-by-area-e' })
    const state = await visit(fixture, sessionId, faces.person())
    assert.deepEqual([state.state, state.errors], ['FAILED', [-9]])
    const found = await recognition.find(group(), { externalId: 'named-by-area-e' })
    assert.equal(found?.puid, known.personId)
    const text = 'select distinct version from face_templates where person_id = $1'
    const { rows } = await fixture.harness.database.query(text, [known.personId])
    assert.deepEqual(rows, [{ version: 'FACE3_1' }], 'no face was added to them')
  })

  test('of one person with the face of another identifies neither of them', async () => {
    const [one, other] = [faces.person(), faces.person()]
    await enrolled(fixture, host, one, { body: { customerId: 'one' } })
    await enrolled(fixture, host, other, { body: { customerId: 'other' } })
    const before = await personsOf()
    const { sessionId } = await host.create('ENROLL', { customerId: 'other' })
    const state = await visit(fixture, sessionId, one)
    assert.deepEqual([state.state, state.errors], ['FAILED', [-9]])
    assert.equal((await host.webhook(sessionId)).puid, undefined)
    assert.equal(await personsOf(), before)
  })

  test('is not given to a person who is enrolled already: a face alone binds nothing', async () => {
    const face = faces.person()
    const puid = await enrolled(fixture, host, face)
    const { sessionId } = await host.create('ENROLL', { customerId: 'late' })
    assert.equal((await visit(fixture, sessionId, face)).state, 'SUCCESS')
    assert.equal((await host.webhook(sessionId)).puid, puid)
    assert.equal(await fixture.harness.wire.biometrics.recognition.find(group(), { externalId: 'late' }), undefined)
  })
})
