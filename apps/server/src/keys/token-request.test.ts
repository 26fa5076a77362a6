import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLIENT_ASSERTION_TYPE } from '@ostiary/contract'
import type { PresentedCredentials } from './client-credentials.ts'
import { readTokenRequest } from './token-request.ts'

const NO_HEADER = { kind: 'none' } as const
const BASIC = { kind: 'secret', clientId: 'c', secret: 's' } as const
const GRANT = 'grant_type=client_credentials'
const ASSERTION = new URLSearchParams({
  client_assertion_type: CLIENT_ASSERTION_TYPE,
  client_assertion: 'a.b.c',
}).toString()
const read = (form: string, inHeader: PresentedCredentials = NO_HEADER) =>
  readTokenRequest(new URLSearchParams(form), inHeader)

test('each of the three ways is read', () => {
  assert.deepEqual(read(GRANT, BASIC), BASIC)
  assert.deepEqual(read(`${GRANT}&client_id=c`, BASIC), BASIC)
  assert.deepEqual(read(`${GRANT}&client_id=c&client_secret=s`), BASIC)
  assert.deepEqual(read(`${GRANT}&${ASSERTION}`), { kind: 'assertion', assertion: 'a.b.c', clientId: undefined })
  assert.deepEqual(read(`${GRANT}&client_id=c&${ASSERTION}`), { kind: 'assertion', assertion: 'a.b.c', clientId: 'c' })
})

test('fields that OAuth does not name are ignored, and empty ones count as left out', () => {
  assert.deepEqual(read(`${GRANT}&resource=x&__proto__=y&scope=&client_assertion=`, BASIC), BASIC)
})

test('a request without usable credentials counts as one without credentials', () => {
  for (const form of [
    GRANT,
    `${GRANT}&client_id=c`,
    `${GRANT}&client_secret=s`,
    `${GRANT}&client_assertion=a.b.c`,
    `${GRANT}&client_assertion_type=${encodeURIComponent(CLIENT_ASSERTION_TYPE)}`,
    `${GRANT}&client_assertion=a.b.c&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:saml2-bearer`,
  ]) {
    assert.deepEqual(read(form), { kind: 'none' }, form)
  }
  assert.deepEqual(read(`${GRANT}&client_id=another`, BASIC), { kind: 'none' })
  assert.deepEqual(read(GRANT, { kind: 'unreadable' }), { kind: 'none' })
  assert.deepEqual(read(GRANT, { kind: 'token', token: 't' }), { kind: 'none' })
})

test('an invalid token request is refused with the reason', () => {
  const refusals: [string, PresentedCredentials, RegExp][] = [
    ['', BASIC, /^grant_type is missing$/],
    ['grant_type=', BASIC, /^grant_type is missing$/],
    ['grant_type=password', BASIC, /\/grant_type must be client_credentials/],
    ['grant_type=Client_Credentials', BASIC, /\/grant_type/],
    [`${GRANT}&${GRANT}`, BASIC, /^grant_type is there twice$/],
    [`${GRANT}&client_id=c&client_id=c`, BASIC, /^client_id is there twice$/],
    [`${GRANT}&scope=verify`, BASIC, /\/scope must be left out/],
    [`${GRANT}&client_secret=${'s'.repeat(201)}`, NO_HEADER, /^client_secret is too long$/],
    [`${GRANT}&client_assertion=${'a'.repeat(8193)}`, NO_HEADER, /^client_assertion is too long$/],
    [`${GRANT}&client_id=c&client_secret=s`, BASIC, /^only one way/],
    [`${GRANT}&${ASSERTION}`, BASIC, /^only one way/],
    [`${GRANT}&${ASSERTION}`, { kind: 'unreadable' }, /^only one way/],
    [`${GRANT}&client_id=c&client_secret=s&${ASSERTION}`, NO_HEADER, /^only one way/],
  ]
  for (const [form, inHeader, message] of refusals) {
    assert.throws(
      () => read(form, inHeader),
      (error: Error) => message.test(error.message),
      form.slice(0, 80),
    )
  }
})
