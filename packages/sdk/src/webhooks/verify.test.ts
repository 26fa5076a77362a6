import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signWebhook } from '@ostiary/crypto'
import { verifyWebhook } from '../index.ts'

const apiKey = 'ost_test_a-key'
const body = '{"flowStatus":"COMPLETED"}'

async function received(secondsAgo: number) {
  const timestamp = String(Math.floor(Date.now() / 1000) - secondsAgo)
  return { apiKey, timestamp, body, signature: await signWebhook(apiKey, timestamp, body) }
}

test('a fresh webhook is genuine; a changed one and one signed with another key are not', async () => {
  const webhook = await received(2)
  assert.equal(await verifyWebhook(webhook), true)
  assert.equal(await verifyWebhook({ ...webhook, body: `${body} ` }), false)
  assert.equal(await verifyWebhook({ ...webhook, apiKey: 'ost_test_another-key' }), false)
})

test('a webhook of an hour ago is refused by default, unless the window is wider', async () => {
  const old = await received(3600)
  assert.equal(await verifyWebhook(old), false)
  assert.equal(await verifyWebhook({ ...old, toleranceSeconds: 4000 }), true)
  assert.equal(await verifyWebhook({ ...old, nowSeconds: Number(old.timestamp) }), true)
})

test('passing `nowSeconds: undefined` does not switch the check of the time off', async () => {
  const untyped: object = { ...(await received(3600)), nowSeconds: undefined }
  assert.equal(await verifyWebhook(untyped as Parameters<typeof verifyWebhook>[0]), false)
})
