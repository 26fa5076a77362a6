import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { RELEASED_READERS } from '@ostiary/contract'
import { readerIdentity } from '@ostiary/documents'

test('the service takes facts from the reader that the page ships', async () => {
  assert.deepEqual(RELEASED_READERS.at(-1), await readerIdentity())
})

test('the manifest of the training names the weights that are shipped', async () => {
  const { sha256 } = JSON.parse(readFileSync(new URL('../../models/mrz/manifest.json', import.meta.url), 'utf8'))
  const { hash } = await readerIdentity()
  assert.equal(Buffer.from(hash, 'base64url').toString('hex'), sha256)
})
