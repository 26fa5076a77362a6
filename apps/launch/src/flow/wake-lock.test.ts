import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWakeLock } from './wake-lock.ts'

function screen({ supported = true, refused = false } = {}) {
  let held = 0
  let isVisible = true
  const listeners: (() => void)[] = []
  const keepAwake = createWakeLock({
    request: supported
      ? async () => {
          if (refused) throw new Error('the battery is low')
          held++
          return { release: async () => void held-- }
        }
      : undefined,
    isVisible: () => isVisible,
    onVisibility: (listener) => void listeners.push(listener),
  })
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return {
    async keepAwake(isAwake: boolean) {
      keepAwake(isAwake)
      await settled()
      return held
    },
    async show(visible: boolean) {
      isVisible = visible
      for (const listener of listeners) listener()
      await settled()
      return held
    },
  }
}

test('the screen stays on from the first request to the release, with one lock', async () => {
  const { keepAwake } = screen()
  assert.equal(await keepAwake(true), 1)
  assert.equal(await keepAwake(true), 1)
  assert.equal(await keepAwake(false), 0)
  assert.equal(await keepAwake(false), 0)
})

test('a hidden page releases the lock, and asks again when it is visible', async () => {
  const { keepAwake, show } = screen()
  await keepAwake(true)
  assert.equal(await show(false), 0)
  assert.equal(await show(true), 1)
  await keepAwake(false)
  await show(false)
  assert.equal(await show(true), 0)
})

test('a browser that has no wake lock, or refuses it, is left alone', async () => {
  for (const kind of [{ supported: false }, { refused: true }]) {
    const { keepAwake, show } = screen(kind)
    assert.equal(await keepAwake(true), 0)
    assert.equal(await show(false), 0)
    assert.equal(await show(true), 0)
    assert.equal(await keepAwake(false), 0)
  }
})
