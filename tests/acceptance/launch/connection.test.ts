import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cut } from '@ostiary/testkit/browser/proxy'
import { eventually, hostOf } from '@ostiary/testkit/browser/system'
import { checkVerdict, passCapture } from '@ostiary/testkit/browser/visit'
import { newVisitor, prepareCameraBrowser, WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'

prepareCameraBrowser()
const host = hostOf('OSTIARY_TEST_KEY_ONE')
const A_MODEL = '/faceres_deep/'

test(
  'a bad connection, a reload in the middle, a capture lost on its way: none of it costs a try',
  WHOLE_FLOW,
  async (t) => {
    const { visit, device, camera } = await newVisitor(t)
    const created = await host.create()
    const forEver = new Promise<void>(() => {})
    const lostModels: Cut[] = ['before']
    // The first request is not sent. Of the second only the answer is lost, so the service has already judged it.
    const lostSubmits: Cut[] = ['before', 'after']
    device.proxy.hold = ({ path }) => (path.includes(A_MODEL) && lostModels.length === 0 ? forEver : undefined)
    device.proxy.cut = ({ path }) => {
      if (path.includes(A_MODEL)) return lostModels.shift()
      return path === '/launch/api/submit' ? lostSubmits.shift() : undefined
    }
    await visit.open(created.launchUrl)
    await visit.screen(['welcome'])
    await visit.act('consent')
    await visit.screen(['capture'])
    await visit.attributeIs('data-phase', 'load')
    const bar = visit.page.getByRole('progressbar')
    await eventually('the other models are there', async () => {
      const percent = Number(await bar.getAttribute('aria-valuenow'))
      return (percent > 30 && percent < 100) || undefined
    })
    await eventually('the lost one is asked for again', () => {
      const asked = device.proxy.requests.filter(({ path }) => path.includes(A_MODEL))
      return asked.length === 2 || undefined
    })

    device.proxy.hold = () => undefined
    await visit.page.reload()
    await visit.screen(['camera'])
    await visit.act('start')
    await passCapture(visit, camera)
    assert.deepEqual(lostSubmits, [])
    await checkVerdict(visit, created)
  },
)
