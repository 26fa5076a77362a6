import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  atStage,
  chooseDocument,
  holdDocument,
  lookAgain,
  newDocumentVisitor,
  prepareDocumentBrowser,
} from '@ostiary/testkit/browser/document-visit'
import { scan, typeNumber } from '@ostiary/testkit/browser/qr-code'
import { hostOf } from '@ostiary/testkit/browser/system'
import { passCapture, takeFaceCheck } from '@ostiary/testkit/browser/visit'
import { WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'
import { inventHolder, passportPage } from '@ostiary/testkit/samples/documents'

const year = new Date().getUTCFullYear()
const ADULT = inventHolder({ birth: '1987-03-09', expiry: `${year + 5}-10-24` })
const PASSPORT = passportPage(ADULT, { portrait: 'baseline' })
prepareDocumentBrowser([{ document: PASSPORT }])
const host = hostOf('OSTIARY_TEST_KEY_ONE')

const PASSED = { sessionStatus: 'AGE_ABOVE_THRESHOLD', errors: [], faceMatch: true }

async function endOf(created: Awaited<ReturnType<typeof host.create>>) {
  const { sessionStatus, errors, result } = await created.ended()
  return { sessionStatus, errors, faceMatch: result.faceMatch }
}

test(
  'after a reload the face is looked at once more, without a try and without a vote on the age',
  WHOLE_FLOW,
  async (t) => {
    const { visit, camera } = await newDocumentVisitor(t)
    const created = await host.create({ requirements: ['face', 'identity_document'], ageThreshold: 25 })
    await visit.open(created.launchUrl)
    await takeFaceCheck(visit, camera)
    await atStage(visit, ['intro'])
    const estimate = (await created.result()).result.facialAgeEstimation
    await visit.page.reload()
    await lookAgain(visit, camera)
    await chooseDocument(visit, 'passport')
    assert.equal(await holdDocument(visit, camera, { page: PASSPORT }), 'review')
    await visit.act('document-send')
    await visit.saw(['done'])
    assert.deepEqual(await endOf(created), PASSED)
    const { result, progress } = await created.result()
    assert.equal(progress, undefined)
    if (estimate) assert.deepEqual(result.facialAgeEstimation, estimate)
  },
)

test('after a reload between document and face the document is asked for once more', WHOLE_FLOW, async (t) => {
  const { visit, camera } = await newDocumentVisitor(t)
  const created = await host.create({ requirements: ['identity_document', 'face'], ageThreshold: 25 })
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
  await chooseDocument(visit, 'passport')
  assert.equal(await holdDocument(visit, camera, { page: PASSPORT }), 'review')
  camera.show('rest')
  await visit.act('document-send')
  await visit.screen(['camera', 'capture'])
  await visit.page.reload()
  await visit.screen(['camera', 'capture', 'welcome', 'document'])
  if ((await visit.attribute('data-screen')) === 'camera') await visit.act('start')
  await passCapture(visit, camera)
  await chooseDocument(visit, 'passport')
  assert.equal(await holdDocument(visit, camera, { page: PASSPORT }), 'review')
  await visit.act('document-send')
  await visit.saw(['done'])
  assert.deepEqual(await endOf(created), PASSED)
})

test('a flow goes on with the document on a phone, which looks at the face once more', WHOLE_FLOW, async (t) => {
  const { visit: first, camera } = await newDocumentVisitor(t)
  const { visit: second } = await newDocumentVisitor(t, { form: 'phone' })
  const created = await host.create({ requirements: ['face', 'identity_document'], ageThreshold: 25 })
  await first.open(created.launchUrl)
  await takeFaceCheck(first, camera)
  await atStage(first, ['intro'])
  await first.act('document-begin')
  await atStage(first, ['choose'])
  await first.act('document-passport')
  await atStage(first, ['device'])
  await first.act('document-phone')
  await second.open(await scan(first))
  await typeNumber(first, second)
  await second.screen(['welcome'])
  await second.act('consent')
  await lookAgain(second, camera)
  await chooseDocument(second, 'passport')
  assert.equal(await holdDocument(second, camera, { page: PASSPORT }), 'review')
  await second.act('document-send')
  await second.saw(['done'])
  assert.deepEqual(await endOf(created), PASSED)
})
