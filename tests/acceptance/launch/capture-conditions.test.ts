import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Recorded } from '@ostiary/testkit/browser/proxy'
import { watchSeals } from '@ostiary/testkit/browser/seals'
import { startVerificationHost, type VerificationHost } from '@ostiary/testkit/browser/verification-host'
import { asRows, readLedger, showFace } from '@ostiary/testkit/browser/visit'
import { newVisitor, prepareCameraBrowser, WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'

prepareCameraBrowser()
let host: VerificationHost
before(async () => {
  host = await startVerificationHost()
})
after(() => host?.stop())

test(
  '[D-053] light, movement and camera are named before the consent and in the list of what left the device, and come to the host as they were sent',
  WHOLE_FLOW,
  async (t) => {
    const { visit, device, camera } = await newVisitor(t, { form: 'phone' })
    const seals = await watchSeals(device.context)
    // A test browser has no sensor. No page of ours asks for one: these events are what a phone sends by itself.
    await device.context.addInitScript(MOVING)
    const created = await host.create({ type: 'ENROLL' })
    const { promise: read, resolve } = Promise.withResolvers<void>()
    const isWayBack = ({ origin }: Recorded) => origin === new URL(host.backUrl).origin
    device.proxy.hold = (request) => (isWayBack(request) ? read : undefined)
    await visit.open(created.launchUrl)
    await visit.screen(['welcome'])
    assert.match((await visit.page.locator('.points').textContent()) ?? '', NAMED)
    await visit.act('consent')
    assert.equal((await showFace(visit, camera)).next, 'done')

    await visit.act('ledger')
    const listed = await readLedger(visit)
    const recorded = device.proxy.requests.filter((request) => !isWayBack(request))
    assert.match((await visit.page.locator('dialog[data-dialog="ledger"]').textContent()) ?? '', NAMED)
    const rows = listed.map(({ method, path, bytes }) => `${method} ${path} ${bytes}`)
    assert.deepEqual(rows.sort(), asRows(recorded).sort(), 'the page lists what left the device, no more and no less')

    const { puid = '', captureConditions, consent } = await host.webhookOf(created)
    t.after(() => host.client.node.deleteUser(puid))
    resolve()
    assert.deepEqual(seals.of(created.sessionId).at(-1)?.metadata?.captureConditions, captureConditions)
    const { light, motion, camera: filmed } = captureConditions ?? assert.fail('there are no conditions')
    assert.ok(light.brightness > 20 && light.brightness < 235, `brightness ${light.brightness}`)
    assert.deepEqual([light.lux, motion], [null, 2])
    assert.ok(filmed.width >= 240 && filmed.height >= 240, `${filmed.width} × ${filmed.height}`)
    assert.deepEqual([consent?.accepted, consent?.version, consent?.language], [true, '4', 'en'])
    assert.deepEqual(visit.faults, [])
  },
)

const NAMED = /light, camera and how still the device/
const MOVING = `setInterval(() => {
  dispatchEvent(new DeviceMotionEvent('devicemotion', { acceleration: { x: 0, y: -2, z: 0 } }))
}, 100)`
