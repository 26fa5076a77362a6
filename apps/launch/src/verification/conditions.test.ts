import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CaptureConditions, type CapturePayload } from '@ostiary/contract'
import Value from 'typebox/value'
import type { Sample } from '../capture/capture-types.ts'
import { goodCapture } from '../flow/testing/fixture.ts'
import { brightnessOf, conditionsOf } from './conditions.ts'
import { createSensors, type SensorWindow } from './sensors.ts'
import { createVerificationFixture, SENSED } from './testing/fixture.ts'

/** Of a sample only its brightness is read here. */
const sampleOf = (brightness: number) => ({ tMs: 0, measured: { face: { quality: { brightness } } } }) as Sample

describe('the conditions of a capture', () => {
  const facts = {
    brightness: 0.5,
    sensed: { lux: 312.4, motion: 0.31 },
    camera: { width: 640, height: 480, frameRate: 29.97 },
  }

  test('are in the coarse steps of the contract', () => {
    assert.equal(brightnessOf([]), null)
    assert.equal(brightnessOf([sampleOf(0.25), sampleOf(0.75)]), 0.5)
    assert.deepEqual(conditionsOf(facts), {
      light: { brightness: 130, lux: 300 },
      motion: 0.25,
      camera: { width: 640, height: 480, frameRate: 30 },
    })
  })

  test('fit the contract whatever a browser reports', () => {
    for (const value of [-7, 0, 0.1, 1e9, Number.NaN, Number.POSITIVE_INFINITY])
      for (const brightness of [0, 0.999, 1.2]) {
        const sensed = { lux: value, motion: value }
        const made = conditionsOf({
          brightness,
          sensed,
          camera: { width: 99_999, height: 0, frameRate: value },
        })
        assert.ok(Value.Check(CaptureConditions, made), JSON.stringify(made))
      }
    const none = conditionsOf({ ...facts, sensed: { lux: null, motion: null } })
    assert.deepEqual([none.light.lux, none.motion], [null, null])
  })
})

describe('the sensors', () => {
  const moved = (acceleration: object | null) => Object.assign(new Event('devicemotion'), { acceleration })
  /** Runs what is waiting. */
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  function browser(permission?: string) {
    const asked: string[] = []
    let started = 0
    const target = new EventTarget()
    class Light extends EventTarget {
      illuminance = 420
      start() {
        started++
        this.dispatchEvent(new Event('reading'))
      }
      stop() {
        started--
      }
    }
    const query = async ({ name }: { name: string }) => {
      asked.push(name)
      return { state: permission ?? 'denied' }
    }
    const window: SensorWindow = Object.assign(target, {
      navigator: { permissions: { query } },
      ...(permission !== undefined && { AmbientLightSensor: Light }),
    })
    return { window, target, asked, started: () => started }
  }

  test('give the root mean square of the movement, and nothing once they are stopped', async () => {
    const { window, target, asked } = browser()
    const sensing = createSensors(window).start()
    target.dispatchEvent(moved({ x: 3, y: 0, z: 4 }))
    target.dispatchEvent(moved({ x: 0, y: 0, z: 0 }))
    target.dispatchEvent(moved(null))
    target.dispatchEvent(moved({ x: null, y: null, z: null }))
    await turn()
    assert.deepEqual(sensing.stop(), { lux: null, motion: Math.sqrt(12.5) })
    target.dispatchEvent(moved({ x: 100, y: 0, z: 0 }))
    assert.deepEqual(sensing.stop(), { lux: null, motion: Math.sqrt(12.5) })
    assert.deepEqual(asked, [], 'a browser without the sensor is asked nothing')
  })

  test('read the light where the browser has granted it already, and never ask for it', async () => {
    for (const [permission, lux] of [
      ['granted', 420],
      ['prompt', null],
      ['denied', null],
    ] as const) {
      const { window, started } = browser(permission)
      const sensing = createSensors(window).start()
      await turn()
      assert.deepEqual(sensing.stop(), { lux, motion: null }, permission)
      assert.equal(started(), 0, 'no sensor goes on running')
    }
  })
})

describe('a capture', () => {
  const seen: typeof goodCapture = (deps) => {
    deps.onSamples?.([sampleOf(0.4), sampleOf(0.6)])
    return goodCapture(deps)
  }
  const EXPECTED = {
    light: { brightness: 130, lux: SENSED.lux },
    motion: 0.25,
    camera: { width: 640, height: 480, frameRate: null },
  }

  for (const type of ['ENROLL', 'SIGN-IN', 'VERIFY'] as const)
    test(`of ${type} sends its conditions beside what else is there`, async () => {
      const { capture, reaches, service } = await createVerificationFixture({ type, captures: [seen] })
      await capture()
      await reaches('done')
      const [payload] = (await service.opened()) as CapturePayload[]
      assert.deepEqual(payload?.metadata?.captureConditions, EXPECTED)
      assert.deepEqual(payload?.metadata?.camera, { width: 640, height: 480 })
      assert.equal('localProof' in (payload?.metadata ?? {}), type === 'ENROLL')
    })

  test('without a measured sample sends none', async () => {
    const { capture, reaches, service } = await createVerificationFixture({ type: 'ENROLL' })
    await capture()
    await reaches('done')
    const [payload] = (await service.opened()) as CapturePayload[]
    assert.equal('captureConditions' in (payload?.metadata ?? {}), false)
  })

  test('is agreed to with the version of the text that names them', async () => {
    const { capture, reaches, service } = await createVerificationFixture({ type: 'ENROLL' })
    await capture()
    await reaches('done')
    assert.deepEqual(
      service.bodies('consent').map(({ version }) => version),
      ['4'],
    )
  })
})
