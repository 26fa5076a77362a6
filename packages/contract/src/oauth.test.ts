import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OAuthError, requestToken } from './oauth.ts'
import { toOpenApi } from './openapi.ts'

test('the document shows the token endpoint with a form, and errors in the shape of RFC 6749', () => {
  const document = JSON.parse(JSON.stringify(toOpenApi([requestToken], { title: 'Test', version: '1' })))
  const { requestBody, responses, security } = document.paths['/oauth/token'].post
  assert.deepEqual(Object.keys(requestBody.content), ['application/x-www-form-urlencoded'])
  assert.deepEqual(security, [])
  assert.deepEqual(Object.keys(responses), ['200', '400', '401', '413', '415', '429', '500', '503'])
  for (const status of ['400', '401', '503']) {
    assert.deepEqual(responses[status].content['application/json'].schema, { $ref: '#/components/schemas/OAuthError' })
  }
  assert.deepEqual(Object.keys(document.components.schemas), ['AccessToken', 'OAuthError', 'TokenRequest'])
})

test('every error that a status can have is one that the schema knows', () => {
  const named = Object.values(requestToken.oauthErrors).flatMap((text) => [...text.matchAll(/`([a-z_]+)`/g)])
  assert.ok(named.length >= 8)
  for (const [, name] of named)
    assert.ok(
      OAuthError.properties.error.enum.some((known) => known === name),
      name,
    )
})
