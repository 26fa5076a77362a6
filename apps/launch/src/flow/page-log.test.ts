import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPageLog } from './page-log.ts'

test('events are written as they come, and while a capture is submitted they wait', async () => {
  const written: string[] = []
  const { log, whileHeld } = createPageLog(
    async (type, n) => void written.push(n === undefined ? type : `${type} ${n}`),
  )
  log('page_open')
  log('retake', 2)
  const answer = await whileHeld(async () => {
    log('tab_hidden')
    log('tab_visible')
    assert.deepEqual(written, ['page_open', 'retake 2'])
    return 'answer'
  })
  assert.equal(answer, 'answer')
  assert.deepEqual(written, ['page_open', 'retake 2', 'tab_hidden', 'tab_visible'])
  log('failure')
  assert.equal(written.at(-1), 'failure')
})

test('held events are written even if the submit fails', async () => {
  const written: string[] = []
  const { log, whileHeld } = createPageLog(async (type) => void written.push(type))
  const failing = whileHeld(async () => {
    log('tab_hidden')
    throw new Error('refused')
  })
  await assert.rejects(failing, /refused/)
  assert.deepEqual(written, ['tab_hidden'])
})
