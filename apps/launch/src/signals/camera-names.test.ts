import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPhoneCamera, isVirtualCamera, looksVirtual } from './camera-names.ts'

const kindsOf = (label: string) => [isVirtualCamera(label), isPhoneCamera(label), looksVirtual(label)]

test('a camera name is known software, a phone, or suspicious', () => {
  assert.deepEqual(kindsOf('OBS Virtual Camera'), [true, false, true])
  assert.deepEqual(kindsOf('DroidCam Video'), [false, true, false])
  assert.deepEqual(kindsOf('fake_device_0'), [false, false, true])
  assert.deepEqual(kindsOf('/clips/face.mjpeg'), [false, false, true])
})

test('names match only as whole words', () => {
  for (const label of [
    'Lobster Vision',
    'Indigo NDIX Cam',
    'Camouflage Cam',
    'USB Camera',
    'HP Wide Vision HD Camera',
  ]) {
    assert.deepEqual(kindsOf(label), [false, false, false], label)
  }
})
