import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createKeyRing } from './key-ring.ts'
import { createKeyVault } from './key-vault.ts'
import { createManualClock } from './testing/manual-clock.ts'

const master = randomBytes(32)
const vault = createKeyVault([master])
const ringOf = (name = 'tests', of = vault, clock = createManualClock()) => createKeyRing({ vault: of, clock, name })

test('a stored key opens in this process and in another', async () => {
  const { key, stored } = await ringOf().next()
  assert.equal(key.symmetricKeySize, 32)
  assert.ok((await ringOf().open(stored)).equals(key))
  assert.ok(!stored.blob.includes(key.export()))
})

test('every key is different, and the stored bytes differ only in the salt while the root is the same', async () => {
  const ring = ringOf()
  const made = await Promise.all(Array.from({ length: 200 }, () => ring.next()))
  assert.equal(new Set(made.map(({ key }) => key.export().toString('hex'))).size, 200)
  assert.equal(new Set(made.map(({ stored }) => stored.blob.subarray(33).toString('hex'))).size, 1)
})

test('a root is used for an hour', async () => {
  const clock = createManualClock()
  const ring = ringOf('tests', vault, clock)
  const rootOf = async () => (await ring.next()).stored.blob.subarray(33).toString('hex')
  const first = await rootOf()
  clock.advance(3_599_999)
  assert.equal(await rootOf(), first)
  clock.advance(1)
  assert.notEqual(await rootOf(), first)
})

test('another salt gives another key; a changed root, another ring or another master key fails', async () => {
  const ring = ringOf()
  const { key, stored } = await ring.next()
  const changed = (at: number) => {
    const blob = Buffer.from(stored.blob)
    blob[at] = (blob[at] ?? 0) ^ 1
    return { ...stored, blob }
  }
  assert.ok(!(await ring.open(changed(1))).equals(key))
  await assert.rejects(ring.open(changed(stored.blob.length - 1)))
  await assert.rejects(ring.open(changed(0)), /Not a key of a ring/)
  await assert.rejects(ring.open({ ...stored, blob: stored.blob.subarray(0, 33) }), /Not a key of a ring/)
  await assert.rejects(ringOf('others').open(stored))
  await assert.rejects(ringOf('tests', createKeyVault([randomBytes(32)])).open(stored))
})

test('after resealing the same key opens with the new master key alone', async () => {
  const { key, stored } = await ringOf().next()
  const fresh = randomBytes(32)
  const both = ringOf('tests', createKeyVault([fresh, master]))
  const resealed = await both.reseal(stored)
  assert.notEqual(resealed.masterKeyId, stored.masterKeyId)
  assert.ok((await ringOf('tests', createKeyVault([fresh])).open(resealed)).equals(key))
})

test('the ring works again after a failure of the vault', async () => {
  let fails = true
  const flaky = {
    ...vault,
    seal: (secret: Uint8Array, context: string) =>
      fails ? Promise.reject(new Error('away')) : vault.seal(secret, context),
  }
  const ring = ringOf('tests', flaky)
  await assert.rejects(ring.next(), /away/)
  fails = false
  assert.ok((await ring.next()).key)
})
