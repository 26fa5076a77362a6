import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTokenKeys } from '@ostiary/device'
import { createProbe, createToken } from '@ostiary/token'
import { faceOf } from '../local-token/testing/faces.ts'
import { type EnrolJob, makeMessage } from './make-message.ts'
import { runWorker, type TokenWorker } from './run-worker.ts'
import { createWorkers, keyHolder, TOKEN_ID } from './testing/tokens.ts'

const BEGUN = {
  tokenId: TOKEN_ID,
  account: 'AgICAgICAgICAgICAgICAg',
  realm: 'AwMDAwMDAwMDAwMDAwMDAw',
  matcherNonce: 'M'.repeat(43),
  keyHolderNonce: 'K'.repeat(43),
  keyHolderKey: keyHolder.publicJwk,
  publicKey: null,
  wantsToken: false,
}
const job = async (): Promise<EnrolJob> => ({
  ...{ ask: 'enrol', begun: BEGUN, keys: await createTokenKeys(), vector: faceOf(1) },
})

test('a worker is started for one job and ended after its answer', async () => {
  const { start, seen } = createWorkers()
  const { body } = await runWorker(start, await job())
  assert.equal(body.token.length, Math.ceil((11_316 * 4) / 3))
  assert.deepEqual([seen.started, seen.ended], [1, 1])
})

test('the vector is moved to the worker: the page keeps no second one', async () => {
  const moved: Transferable[] = []
  const start = (): TokenWorker => {
    const worker: TokenWorker = {
      ...{ onmessage: null, onerror: null, terminate: () => {} },
      postMessage({ vector }, transfer) {
        moved.push(...transfer)
        assert.equal(transfer[0], vector.buffer)
        queueMicrotask(() => worker.onmessage?.(new MessageEvent('message', { data: { message: null } })))
      },
    }
    return worker
  }
  const asked = await job()
  await assert.rejects(runWorker(start, asked), /worker of the token failed/)
  assert.ok(moved.length === 1 && moved[0] !== asked.vector.buffer, 'a copy is moved, the caller wipes its own')
})

test('a worker that cannot be loaded, and one that answers with a failure, are ended', async () => {
  const { start, seen } = createWorkers({ fails: true })
  await assert.rejects(runWorker(start, await job()), /failed/)
  assert.equal(seen.ended, 1)
})

test('after a job the vector and the key holder’s share are overwritten, also when the job fails', async () => {
  const shares: Uint8Array[] = []
  const asked = await job()
  await makeMessage(asked, {
    createProbe,
    async createToken(id, vector) {
      const token = await createToken(id, vector)
      shares.push(token.keyShare)
      return token
    },
  })
  assert.ok(asked.vector.every((value) => value === 0))
  assert.ok(shares.length === 1 && shares[0]?.every((byte) => byte === 0))
  const failing = await job()
  await assert.rejects(makeMessage(failing, { createProbe, createToken: () => Promise.reject(new Error('no')) }))
  assert.ok(failing.vector.every((value) => value === 0))
})
