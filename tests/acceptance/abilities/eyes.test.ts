import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPersonWith } from '@ostiary/testkit/browser/abilities'
import { NOBODY_WITH_A_PATCH, startFaceWithPatch, takePlace } from '@ostiary/testkit/browser/other-face'
import { hostOf } from '@ostiary/testkit/browser/system'
import { checkVerdict, takeFaceCheck } from '@ostiary/testkit/browser/visit'
import { newVisitor, prepareCameraBrowser, WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'

prepareCameraBrowser()
const host = hostOf('OSTIARY_TEST_KEY_ONE')

test('a person who cannot close their eyes gets a verdict, and the result names what was left', WHOLE_FLOW, (t) =>
  checkPersonWith(
    { cannot: ['blink'], challenge: ['blink', 'turn_left', 'closer'], left: ['turn', 'up', 'closer'] },
    t,
  ),
)

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
