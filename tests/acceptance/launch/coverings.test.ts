import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostOf } from '@ostiary/testkit/browser/system'
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
