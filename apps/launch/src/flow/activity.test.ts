import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isActivity, SIGNS, type Sign, staysFromTheStart } from './activity.ts'

const sign = (more: Partial<Sign>) => isActivity({ type: 'keydown', isOnHeading: false, movedPx: 0, ...more })

test('a key, a touch, a press, a scroll, a move of the pointer or of the focus shows that somebody is there', () => {
  for (const type of SIGNS) assert.equal(sign({ type, movedPx: 3 }), true, type)
  assert.equal(sign({ type: 'resize' }), false)
})

test('what the page and the browser do by themselves is no sign: the focus on the heading, a pointer that did not move', () => {
  assert.equal(sign({ type: 'focusin', isOnHeading: true }), false)
  assert.equal(sign({ type: 'pointermove', movedPx: 0 }), false)
})

test('a page with an open dialog, or one that the user came back to, stays from the start', () => {
  const page = { isFromHistory: false, hasOpenDialog: false }
  assert.equal(staysFromTheStart(page), false)
  assert.equal(staysFromTheStart({ ...page, hasOpenDialog: true }), true)
  assert.equal(staysFromTheStart({ ...page, isFromHistory: true }), true)
})
