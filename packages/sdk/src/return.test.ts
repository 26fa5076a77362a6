import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { checkReturn, codeMatches, newState } from './index.ts'

const code = 'w2nP6hGm1v0Jb7gqVJmXn6s8QZk3e4yTz5u9aBcDeFg'
const codeHash = createHash('sha256').update(code).digest('hex')
const state = newState()
const sessionId = '079b6adf-c487-8e40-b939-1119c179a04f'
const urlOf = (more: Record<string, string> = {}) =>
  `https://shop.example/back?${new URLSearchParams({ state, sessionId, status: 'SUCCESS', code, ...more })}`
const known = { state, sessionId, codeHash }
const BOUND = { isBound: true, reason: null }
const notBound = (reason: string) => ({ isBound: false, reason })

test('the browser that was sent away and has finished the session is bound', async () => {
  assert.deepEqual(await checkReturn({ ...known, url: urlOf() }), BOUND)
  assert.deepEqual(await checkReturn({ ...known, url: new URL(urlOf()) }), BOUND)
  assert.deepEqual(await checkReturn({ ...known, url: urlOf().replace('https://shop.example', '') }), BOUND)
})

test('a browser without the cookie, with another state or another session is another browser', async () => {
  assert.deepEqual(await checkReturn({ ...known, state: undefined, url: urlOf() }), notBound('other_browser'))
  assert.deepEqual(await checkReturn({ ...known, state: '', url: urlOf({ state: '' }) }), notBound('other_browser'))
  assert.deepEqual(await checkReturn({ ...known, url: urlOf({ state: newState() }) }), notBound('other_browser'))
  assert.deepEqual(await checkReturn({ ...known, url: urlOf({ sessionId: 'another' }) }), notBound('other_browser'))
  assert.deepEqual(await checkReturn({ ...known, sessionId: undefined, url: urlOf() }), notBound('other_browser'))
})

test('a missing, wrong or unhashed code, and a session without one, are not bound', async () => {
  for (const wrong of ['', `${code}x`, code.toLowerCase(), codeHash]) {
    assert.deepEqual(await checkReturn({ ...known, url: urlOf({ code: wrong }) }), notBound('wrong_code'), wrong)
  }
  for (const none of [null, undefined, '']) {
    assert.deepEqual(await checkReturn({ ...known, codeHash: none, url: urlOf() }), notBound('no_code_hash'))
    assert.equal(await codeMatches(code, none), false)
    assert.equal(await codeMatches(none, codeHash), false)
  }
  assert.equal(await codeMatches(code, codeHash.toUpperCase()), true)
})

test('each state is new and has 256 random bits', () => {
  const states = new Set(Array.from({ length: 100 }, newState))
  assert.equal(states.size, 100)
  for (const one of states) assert.match(one, /^[A-Za-z0-9_-]{43}$/)
})
