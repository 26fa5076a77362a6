import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPageDigest } from './page-digest.ts'

const DIGEST = '5f'.repeat(32)
const SCRIPT = 'https://check.example/launch/assets/index-B3kf92Lx.js'

const read = (body: string, scriptUrl?: string) => readPageDigest(async () => new Response(body), scriptUrl)

test('the page has the digest of its own release', async () => {
  assert.equal(await read(`${DIGEST} assets/index-B3kf92Lx.js\n`, SCRIPT), DIGEST)
})

test('the digest of another release is not shown, nor what is no digest', async () => {
  assert.equal(await read(`${DIGEST} assets/index-00000000.js\n`, SCRIPT), null)
  assert.equal(await read(`${DIGEST} assets/index-B3kf92Lx.js\n`), null)
  assert.equal(await read(DIGEST, SCRIPT), null)
  assert.equal(await read('{"statusCode":404,"message":"There is nothing at this path"}', SCRIPT), null)
})
