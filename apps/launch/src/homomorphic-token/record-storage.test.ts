import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTokenKeys } from '@ostiary/device'
import { createRecordStorage, type RecordAside } from './record-storage.ts'
import { createIndexedDb } from './testing/indexed-db.ts'

const DAY_MS = 24 * 3600 * 1000

async function asideOf(tokenId: string, atMs = 0): Promise<RecordAside> {
  const keys = await createTokenKeys()
  return {
    realm: 'shop',
    atMs,
    record: { version: 1, tokenId, publicKeyHash: 'h', account: 'a', keys, sealedToken: null },
  }
}

test('a record is found only after its session has ended well, and replaces the older one of its realm', async () => {
  const { factory, stores } = createIndexedDb()
  const storage = createRecordStorage(
    () => 0,
    () => factory,
  )
  await storage.putAside('s1', await asideOf('t1'))
  assert.equal(await storage.find('shop'), undefined)
  await storage.keep('s1')
  assert.equal((await storage.find('shop'))?.tokenId, 't1')
  await storage.putAside('s2', await asideOf('t2'))
  assert.equal((await storage.find('shop'))?.tokenId, 't1')
  await storage.keep('s2')
  assert.equal((await storage.find('shop'))?.tokenId, 't2')
  assert.equal(await storage.find('bank'), undefined)
  assert.equal(stores.aside?.size, 0)
})

test('a dropped record is gone, and keeping it then changes nothing', async () => {
  const { factory } = createIndexedDb()
  const storage = createRecordStorage(
    () => 0,
    () => factory,
  )
  await storage.putAside('s1', await asideOf('t1'))
  await storage.drop('s1')
  await storage.keep('s1')
  assert.equal(await storage.find('shop'), undefined)
})

test('records of abandoned sessions are deleted after eight days', async () => {
  const { factory, stores } = createIndexedDb()
  let now = 0
  const storage = createRecordStorage(
    () => now,
    () => factory,
  )
  await storage.putAside('s1', await asideOf('t1', now))
  now = 9 * DAY_MS
  await storage.putAside('s2', await asideOf('t2', now))
  assert.deepEqual([...(stores.aside?.keys() ?? [])], ['s2'])
})

test('a browser that refuses storage is known before anything is enrolled', async () => {
  const keys = await createTokenKeys()
  const { factory, stores } = createIndexedDb()
  const good = createRecordStorage(
    () => 0,
    () => factory,
  )
  assert.equal(await good.canKeep(keys), true)
  assert.equal(stores.aside?.size, 0, 'the test leaves nothing')
  const refusing = [
    () => createIndexedDb({ refuses: () => true }).factory,
    () => {
      throw new Error('The operation is insecure')
    },
  ]
  for (const getIndexedDb of refusing) {
    const storage = createRecordStorage(() => 0, getIndexedDb)
    assert.equal(await storage.canKeep(keys), false)
    assert.equal(await storage.find('shop'), undefined)
    await assert.rejects(storage.putAside('s1', await asideOf('t1')))
    await storage.keep('s1')
    await storage.drop('s1')
  }
})
