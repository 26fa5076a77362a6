import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  chooseDocument,
  holdDocument,
  newDocumentVisitor,
  prepareDocumentBrowser,
  valuesToSend,
} from '@ostiary/testkit/browser/document-visit'
import { hostOf } from '@ostiary/testkit/browser/system'
import { agree, startVerificationHost, type VerificationHost } from '@ostiary/testkit/browser/verification-host'
import { passCapture, takeFaceCheck } from '@ostiary/testkit/browser/visit'
import { WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'
import { inventHolder, passportPage } from '@ostiary/testkit/samples/documents'

/** One flow of each kind. Other documents, faults and devices are `npm run acceptance -- documents`. */
const BIRTH_YEAR = 1987
const year = new Date().getUTCFullYear()
const ADULT = inventHolder({ birth: `${BIRTH_YEAR}-03-09`, expiry: `${year + 5}-10-24` })
const PASSPORT = passportPage(ADULT, { portrait: 'baseline' })
prepareDocumentBrowser([{ document: PASSPORT }])
const host = hostOf('OSTIARY_TEST_KEY_ONE')
let verificationHost: VerificationHost
before(async () => {
  verificationHost = await startVerificationHost()
})
after(() => verificationHost?.stop())

test(
  '[C-002] [C-024] [C-046] a face that looks too young is asked for a document, which decides',
  WHOLE_FLOW,
  async (t) => {
    const { visit, camera } = await newDocumentVisitor(t)
    const created = await host.create({
      ageThreshold: 100,
      stepUpEnabled: true,
      documentAgeThreshold: 18,
      documentAgeReturnFormat: 'both',
    })
    await visit.open(created.launchUrl)
    await takeFaceCheck(visit, camera)
    await chooseDocument(visit, 'passport')
    assert.equal(await holdDocument(visit, camera, { page: PASSPORT }), 'review')
    const years = Number((await valuesToSend(visit)).years)
    assert.ok(years === year - BIRTH_YEAR || years === year - BIRTH_YEAR - 1, `${years}`)
    await visit.act('document-send')
    await visit.saw(['done'])
    const { sessionStatus, errors, result, document, assurance } = await created.ended()
    assert.deepEqual([sessionStatus, errors, result.faceMatch], ['AGE_ABOVE_THRESHOLD', [], true])
    assert.deepEqual(result.documentAge, { thresholdResult: 'AGE_ABOVE_THRESHOLD', exact: years })
    assert.equal(result.facialAgeEstimation?.thresholdResult, 'AGE_BELOW_THRESHOLD')
    assert.deepEqual([document?.type, document?.format, assurance.level], ['passport', 'TD3', 'document'])
    assert.deepEqual(visit.faults, [])
  },
)

test('[C-018] [C-027] the document comes first where the host lists it first', WHOLE_FLOW, async (t) => {
  const { visit, camera } = await newDocumentVisitor(t)
  const created = await host.create({ requirements: ['identity_document', 'face'], ageThreshold: 18 })
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
  await chooseDocument(visit, 'passport')
  assert.equal(await holdDocument(visit, camera, { page: PASSPORT }), 'review')
  camera.show('rest')
  await visit.act('document-send')
  await visit.screen(['camera'])
  await visit.act('start')
  await passCapture(visit, camera)
  await visit.saw(['done'])
  const { sessionStatus, errors, result } = await created.ended()
  assert.deepEqual([sessionStatus, errors, result.faceMatch], ['AGE_ABOVE_THRESHOLD', [], true])
  assert.equal(
    result.facialAgeEstimation?.thresholdResult,
    'AGE_ABOVE_THRESHOLD',
    'the face ran although the document decides',
  )
  const at = (screen: string) => visit.screens.indexOf(screen)
  assert.ok(at('document') < at('capture'), String(visit.screens))
  assert.deepEqual(visit.faults, [])
})

test('[D-003] [D-027] [D-037] a person enrols with face and document', WHOLE_FLOW, async (t) => {
  const { visit, camera } = await newDocumentVisitor(t)
  const created = await verificationHost.create({ requirements: ['face', 'identity_document'], enableDesktop: true })
  await agree(visit, created)
  await passCapture(visit, camera)
  await chooseDocument(visit, 'passport')
  assert.equal(await holdDocument(visit, camera, { page: PASSPORT }), 'review')
  await visit.act('document-send')
  await visit.saw(['done'])
  const { status, puid, identityInformation, document, errors } = await verificationHost.webhookOf(created)
  // The same face enrols once more in the tests of verification.
  t.after(() => verificationHost.client.node.deleteUser(puid ?? ''))
  assert.deepEqual([status, errors, identityInformation?.documentType], ['SUCCESS', [], 'passport'])
  assert.equal(document?.format, 'TD3')
  assert.deepEqual(visit.faults, [])
})
