import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually, hostOf } from '@ostiary/testkit/browser/system'
import { type Visit, visitOn } from '@ostiary/testkit/browser/visit'
import { newVisitorWithoutCamera } from '@ostiary/testkit/browser/visitors'

const host = hostOf('OSTIARY_TEST_KEY_ONE')

function countLoads({ page }: Visit): { loads: number } {
  const counted = { loads: 0 }
  page.on('load', () => {
    counted.loads++
  })
  return counted
}

test('one link in two tabs: the tab that the user switches to continues where the other was, and the other stops', async (t) => {
  const { visit: first, device } = await newVisitorWithoutCamera(t)
  const second = visitOn(await device.page())
  const [firstLoads, secondLoads] = [countLoads(first), countLoads(second)]
  const created = await host.create()
  const failures = (count: number) =>
    eventually('the camera that is not there is reported', () => {
      const reported = device.proxy.requests.filter(({ path, status }) => path === '/launch/api/failure' && status)
      return reported.length === count || undefined
    })

  await first.open(created.launchUrl)
  await first.screen(['welcome'])
  await second.open(created.launchUrl)
  await second.screen(['welcome'])
  await second.act('consent')
  await second.attributeIs('data-status', 'not_found')
  await failures(1)

  await first.act('consent')
  await first.attributeIs('data-status', 'prime')
  await first.act('start')
  await first.attributeIs('data-status', 'not_found')
  await failures(2)
  assert.deepEqual([firstLoads.loads, secondLoads.loads], [2, 1])

  await second.act('start')
  await second.attributeIs('data-status', 'prime')
  await second.act('cancel')
  await second.act('cancel-confirm')
  await second.saw(['cancelled'])
  assert.deepEqual([firstLoads.loads, secondLoads.loads], [2, 2])

  const calls = device.proxy.requests.filter(({ path }) => path.startsWith('/launch/api/'))
  assert.deepEqual([...new Set(calls.map(({ status }) => status))], [200])
  const { riskEvaluation } = await created.result()
  assert.deepEqual(
    riskEvaluation.flags.filter((flag) => flag.startsWith('BH_')),
    [],
  )
})
