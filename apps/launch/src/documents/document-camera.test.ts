import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Camera } from '../camera/camera-types.ts'
import { createCameraControls, documentConstraints } from './document-camera.ts'

interface TrackFacts {
  capabilities?: object
  settings?: Record<string, unknown>
  /** Whether the track does what it is asked for. */
  obeys?: boolean
  refuses?: boolean
}

/** As much of a track as the controls use. */
function cameraWith({ capabilities, settings = {}, obeys = true, refuses = false }: TrackFacts) {
  const asked: object[] = []
  const track = {
    ...(capabilities && { getCapabilities: () => capabilities }),
    getSettings: () => settings,
    async applyConstraints({ advanced: [set = {}] = [] }: { advanced?: object[] }) {
      asked.push(set)
      if (refuses) throw new Error('OverconstrainedError')
      if (obeys) Object.assign(settings, set)
    },
  }
  const stream = { getVideoTracks: () => [track] } as unknown as MediaStream
  return { camera: { stream } as Camera, asked }
}

const controlsOf = (devices: object[] = []) =>
  createCameraControls({ enumerateDevices: async () => devices as MediaDeviceInfo[] })

test('the rear camera is preferred and not demanded, and a chosen camera is demanded', () => {
  const { facingMode, width, height } = documentConstraints(null)
  assert.deepEqual([facingMode, width, height], [{ ideal: 'environment' }, { ideal: 1920 }, { ideal: 1080 }])
  assert.deepEqual(documentConstraints('c2').deviceId, { exact: 'c2' })
})

test('only a camera whose capabilities name a light has a light', async () => {
  const { torchOf } = controlsOf()
  assert.equal(torchOf(cameraWith({ capabilities: { torch: true } }).camera), false)
  assert.equal(torchOf(cameraWith({ capabilities: {} }).camera), null)
  assert.equal(torchOf(cameraWith({}).camera), null, 'a browser without getCapabilities')
})

test('the light is what the camera says afterwards, not what was asked for', async () => {
  const { setTorch } = controlsOf()
  assert.equal(await setTorch(cameraWith({ capabilities: { torch: true } }).camera, true), true)
  assert.equal(await setTorch(cameraWith({ capabilities: { torch: true }, obeys: false }).camera, true), false)
  assert.equal(await setTorch(cameraWith({ refuses: true }).camera, true), false)
})

test('continuous focus is asked for only where the camera has it', async () => {
  const { focus } = controlsOf()
  const able = cameraWith({ capabilities: { focusMode: ['manual', 'continuous'] } })
  const fixed = cameraWith({ capabilities: {} })
  await focus(able.camera)
  await focus(fixed.camera)
  assert.deepEqual([able.asked, fixed.asked], [[{ focusMode: 'continuous' }], []])
})

test('only cameras are listed, and only those that the browser names', async () => {
  const { list, idOf } = controlsOf([
    { kind: 'videoinput', deviceId: 'c1', label: 'Rear' },
    { kind: 'audioinput', deviceId: 'm1', label: 'Microphone' },
    { kind: 'videoinput', deviceId: '', label: '' },
  ])
  assert.deepEqual(await list(), [{ id: 'c1', label: 'Rear' }])
  assert.equal(idOf(cameraWith({ settings: { deviceId: 'c1' } }).camera), 'c1')
})
