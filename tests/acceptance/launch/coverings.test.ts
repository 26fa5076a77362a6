import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOBODY_WITH_A_PATCH, startFaceWithPatch, takePlace } from '@ostiary/testkit/browser/other-face'
import { hostOf } from '@ostiary/testkit/browser/system'
import { checkVerdict, takeFaceCheck } from '@ostiary/testkit/browser/visit'
import { newVisitor, prepareCameraBrowser, WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'

prepareCameraBrowser()
const host = hostOf('OSTIARY_TEST_KEY_ONE')

test('dark glasses and then a mask are named, and no movement is asked for', WHOLE_FLOW, async (t) => {
  const { visit, device, camera } = await newVisitor(t)
  const created = await host.create()
  await camera.wear('black sunglasses')
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
  await visit.screen(['capture'])
  await visit.attributeIs('data-guidance', 'eyes_hidden')
  await camera.wear('light blue mask')
  await visit.attributeIs('data-guidance', 'remove_mask')
  assert.equal(await visit.attribute('data-phase'), 'find')
  assert.ok(!device.proxy.requests.some(({ path }) => path.endsWith('/challenge')), 'no challenge was asked for')
  assert.deepEqual(visit.faults, [])
})

test('a person with an eye patch gets a verdict', { ...WHOLE_FLOW, skip: NOBODY_WITH_A_PATCH }, async (t) => {
  const { visit, camera } = await newVisitor(t)
  const person = await startFaceWithPatch()
  const changeBack = takePlace(camera, person)
  t.after(() => {
    changeBack()
    person.stop()
  })
  const challenge = ['turn_left', 'closer', 'turn_right']
  const created = await host.create({ metadata: { __test: { challenge } } })
  await visit.open(created.launchUrl)
  assert.deepEqual((await takeFaceCheck(visit, person)).at(-1), challenge)
  await checkVerdict(visit, created)
  assert.deepEqual(visit.faults, [])
})
