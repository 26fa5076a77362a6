import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDeviceStorage, type KeptDevice } from './device-storage.ts'
import { databaseOf } from './testing/indexed-db.ts'

const ID = 'a session'
const device = (key: string, counter: number) =>
  ({ key, secondDevice: false, saved: { counter } }) as unknown as KeptDevice
const counterOf = (kept: Map<string, unknown>) => (kept.get(ID) as KeptDevice | undefined)?.saved.counter

/** The pages of one browser. */
function browser(options: { isFull?: () => boolean } = {}) {
  const kept = new Map<string, unknown>()
  return {
    kept,
    openPage: () =>
      createDeviceStorage(
        () => 1,
        () => databaseOf(kept, options),
      ),
  }
}

test('only the page that took a device last may save it; an earlier page gets false and changes nothing', async () => {
  const { kept, openPage } = browser()
  const first = openPage()
  assert.equal(await first.take(ID), undefined)
  assert.equal(await first.keep(ID, device('k', 1)), true)
  const second = openPage()
  assert.equal((await second.take(ID))?.saved.counter, 1)
  assert.equal(await second.keep(ID, device('k', 102)), true)
  assert.equal(await first.keep(ID, device('k', 2)), false)
  assert.equal(counterOf(kept), 102)
})

test('a reloaded page takes the device back, without any message from the other page', async () => {
  const { openPage } = browser()
  const first = openPage()
  await first.keep(ID, device('k', 1))
  const second = openPage()
  await second.take(ID)
  const again = openPage()
  await again.take(ID)
  assert.equal(await again.keep(ID, device('k', 300)), true)
  assert.equal(await second.keep(ID, device('k', 200)), false)
})

test('a device with another key does not stop the first one, which saves itself again', async () => {
  const { kept, openPage } = browser()
  const joined = openPage()
  await joined.keep(ID, device('k', 50))
  await openPage().keep(ID, device('of a code that was used', 1))
  assert.equal(await joined.keep(ID, device('k', 51)), true)
  assert.equal(counterOf(kept), 51)
})

test('a device that was forgotten can be saved again', async () => {
  const { openPage } = browser()
  const page = openPage()
  await page.keep(ID, device('k', 1))
  await openPage().forget(ID)
  assert.equal(await page.keep(ID, device('k', 2)), true)
})

test('if nothing can be written, no page is asked to reload: it would reload for ever', async () => {
  let isFull = false
  const { openPage } = browser({ isFull: () => isFull })
  await openPage().keep(ID, device('k', 1))
  isFull = true
  const page = openPage()
  assert.equal((await page.take(ID))?.saved.counter, 1)
  assert.equal(await page.keep(ID, device('k', 102)), true)
})

test('an insecure page can create the storage too, so that it can show what is wrong', (t) => {
  t.mock.method(crypto, 'randomUUID', () => assert.fail('only secure pages have it'))
  assert.ok(browser().openPage())
})

test('without a database nothing is found and nothing fails', async () => {
  const fails = () => assert.fail('storage is closed to this page')
  const closed = { open: fails } as unknown as IDBFactory
  for (const getIndexedDb of [() => closed, fails]) {
    const page = createDeviceStorage(() => 1, getIndexedDb)
    assert.equal(await page.take(ID), undefined)
    assert.equal(await page.keep(ID, device('k', 1)), true)
    await page.forget(ID)
  }
})
