import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLatestOnly } from './latest-only.ts'

test('what was asked for last is used, also if an earlier one comes later or fails', async () => {
  const used: string[] = []
  const use = createLatestOnly<string>((loaded) => void used.push(loaded))
  const [slow, broken] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  const earlier = [use(() => slow.promise), use(() => broken.promise)]
  await use(async () => 'de')
  slow.resolve('ja')
  broken.reject(new Error('No connection'))
  await earlier[0]
  await assert.rejects(earlier[1] ?? Promise.resolve(), /No connection/)
  assert.deepEqual(used, ['de'])
})
