import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLeaving } from './leaving.ts'
import { createStore } from './store.ts'
import { SESSION } from './testing/service.ts'
import { FIRST_VIEW } from './view.ts'

test('a browser whose storage hangs does not keep the user on the end screen', async () => {
  const redirectUrl = 'https://shop.example/back'
  const pauses: number[] = []
  const left: string[] = []
  const leaving = createLeaving({
    store: createStore({ ...FIRST_VIEW, session: { ...SESSION, redirectUrl } }),
    page: {
      pause: async (ms) => void pauses.push(ms),
      leave: (url) => void left.push(url),
      onActivity: () => {},
    },
    forget: () => new Promise(() => {}),
  })
  await leaving.leave()
  assert.deepEqual(pauses, [1_000])
  assert.deepEqual(left, [redirectUrl])
})
