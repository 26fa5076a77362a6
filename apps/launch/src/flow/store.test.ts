import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStore } from './store.ts'
import { FIRST_VIEW } from './view.ts'

test('onChange runs before onEnter, and an impossible event triggers neither', () => {
  const store = createStore(FIRST_VIEW)
  const seen: string[] = []
  store.onChange(({ state }) => seen.push(`shows ${state.at}`))
  store.onEnter((state, before) => seen.push(`${before.at} to ${state.at}`))
  store.dispatch({ type: 'refused', problem: 'busy' })
  store.dispatch({ type: 'captured' })
  assert.deepEqual(seen, ['shows problem', 'loading to problem'])
})

test('a patch changes only its own fields', () => {
  const store = createStore(FIRST_VIEW)
  const shown: boolean[] = []
  store.onChange(({ offline }) => shown.push(offline))
  store.patch({ offline: true })
  assert.deepEqual(shown, [true])
  assert.equal(store.view().state, FIRST_VIEW.state)
})
