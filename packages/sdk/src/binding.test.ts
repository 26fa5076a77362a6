import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { createBrowserBinding } from './index.ts'

const sessionId = '7d9f4c1e-64a5-4b0e-9d8e-2f6b8f0a1c35'
const codeHash = createHash('sha256').update('the-code').digest('hex')
const binding = createBrowserBinding({ redirectURL: 'https://shop.example/back?lang=en' })

test('the browser that was sent away and comes back with the code is bound, another one is not', async () => {
  const { state, redirectURL, setCookie } = binding.begin()
  assert.equal(redirectURL, `https://shop.example/back?lang=en&state=${state}`)
  assert.equal(setCookie, `__Host-ostiary-state=${state}; Path=/; Max-Age=1800; HttpOnly; SameSite=Lax; Secure`)
  const cookie = `theme=dark; ${setCookie.split(';')[0]}`
  assert.equal(binding.stateOf(cookie), state)
  const url = `${redirectURL}&sessionId=${sessionId}&code=the-code`
  const came = { url, cookie, sessionId, codeHash }
  assert.deepEqual(await binding.check(came), { isBound: true, reason: null })
  for (const other of [undefined, 'theme=dark', `${cookie}; ${setCookie}`, cookie.replace(state, 'x')]) {
    assert.deepEqual(await binding.check({ ...came, cookie: other }), { isBound: false, reason: 'other_browser' })
  }
  assert.equal((await binding.check({ ...came, codeHash: null })).reason, 'no_code_hash')
  assert.match(binding.clearCookie, /^__Host-ostiary-state=; Path=\/; Max-Age=0;/)
})

test('on a developer’s machine without https the cookie is a plain one; a part of a URL is refused', () => {
  const local = createBrowserBinding({ redirectURL: 'http://localhost:3000/back' })
  assert.match(local.begin().setCookie, /^ostiary-state=[\w-]{43}; Path=\/; Max-Age=1800; HttpOnly; SameSite=Lax$/)
  assert.throws(() => createBrowserBinding({ redirectURL: '/back' }), { code: 'INVALID_OPTION' })
})
