import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostOf } from '@ostiary/testkit/browser/system'
import { newVisitor, prepareCameraBrowser, WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'
import { takeWholeFlow } from './whole-flow.ts'

prepareCameraBrowser()
const host = hostOf('OSTIARY_TEST_KEY_ONE')

/** The launch suite has more of Chromium. This is for the times beside those of other browsers. */
test('a face check in Chromium from the link to the verdict', WHOLE_FLOW, async (t) => {
  const { visit, camera } = await newVisitor(t)
  const times = await takeWholeFlow(visit, { camera, created: await host.create() })
  console.log(`Chromium ${visit.page.context().browser()?.version()}, en: ${times}`)
  assert.deepEqual(visit.faults, [])
})
