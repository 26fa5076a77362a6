import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CreateVerificationBody, CreateSessionBody } from '@ostiary/contract'
import Type, { type TSchema } from 'typebox'
import type { AppError } from './errors.ts'
import { validatorCompiler } from './validation.ts'

function detailsOf(schema: TSchema, data: unknown) {
  const check = validatorCompiler({ schema, httpPart: 'body', method: 'POST', url: '/' })
  const { error } = check(data) as { error: AppError }
  return error.extra.details
}

test('the message lists the allowed values of an enum or of a union of constants', () => {
  const words = ['up', 'down', 'left']
  for (const schema of [Type.Enum(words), Type.Union(words.map((word) => Type.Literal(word)))])
    for (const value of ['UP', '', 'up '])
      assert.deepEqual(detailsOf(Type.Object({ a: schema }), { a: value }), [
        { pointer: '/body/a', message: 'must be one of up, down, left' },
      ])
  assert.deepEqual(detailsOf(Type.Enum([1, 2]), 3), [{ pointer: '/body', message: 'must be one of 1, 2' }])
})

test('the message lists only the beginning of a very long list', () => {
  const tags = Array.from({ length: 44 }, (_, at) => `t${at}`)
  const [detail] = detailsOf(Type.Object({ tag: Type.Enum(tags) }), { tag: 'x' }) ?? []
  assert.equal(detail?.message, `must be one of ${tags.slice(0, 20).join(', ')} and 24 others`)
})

test('the message of a wrong time has an example of a right one', () => {
  const schema = Type.Object({ since: Type.String({ format: 'date-time' }) })
  assert.deepEqual(detailsOf(schema, { since: 'yesterday' }), [
    { pointer: '/body/since', message: 'must be a time such as 2026-11-16T10:00:00Z' },
  ])
})

describe('a misspelt field', () => {
  const refused = (schema: TSchema, data: unknown) => {
    const check = validatorCompiler({ schema, httpPart: 'body', method: 'POST', url: '/' })
    const { error } = check(data) as { error: AppError }
    return [error.message, error.extra.details]
  }
  const [redirectUrl, callback] = ['https://shop.example/back', { url: 'https://shop.example/hook' }]

  test('comes first, in the message too, with the name that was probably meant', () => {
    assert.deepEqual(refused(CreateSessionBody, { redirectUrl, ageTreshold: 30 }), [
      'The request is not valid: /body/ageTreshold is not a field: did you mean ageThreshold?',
      [
        { pointer: '/body/ageTreshold', message: 'is not a field: did you mean ageThreshold?' },
        { pointer: '/body/ageThreshold', message: 'is required' },
      ],
    ])
  })

  test('is found at every depth', () => {
    const details = detailsOf(CreateSessionBody, { redirectUrl, ageThreshold: 30, callback: { urls: 'x', header: {} } })
    assert.deepEqual(details, [
      { pointer: '/body/callback/urls', message: 'is not a field: did you mean url?' },
      { pointer: '/body/callback/header', message: 'is not a field: did you mean headers?' },
      { pointer: '/body/callback/url', message: 'is required' },
    ])
  })

  test('gets no suggestion that is there already, deprecated or of another object', () => {
    const least = { redirectUrl, ageThreshold: 30 }
    for (const name of ['redirectURL', 'livenessenabled', 'urls', 'toString'])
      assert.deepEqual(detailsOf(CreateSessionBody, { ...least, [name]: 'x' }), [
        { pointer: `/body/${name}`, message: 'is not a known field' },
      ])
    assert.deepEqual(detailsOf(CreateVerificationBody, { type: 'ENROLL', callback, redirectUri: 'x' }), [
      { pointer: '/body/redirectUri', message: 'is not a field: did you mean redirectURL?' },
      { pointer: '/body/redirectURL', message: 'is required' },
    ])
  })

  test('does not hide what else is wrong', () => {
    assert.deepEqual(detailsOf(CreateSessionBody, { redirectUrl: 7, ageTreshold: 30, colour: 'red' }), [
      { pointer: '/body/ageTreshold', message: 'is not a field: did you mean ageThreshold?' },
      { pointer: '/body/ageThreshold', message: 'is required' },
      { pointer: '/body/colour', message: 'is not a known field' },
      { pointer: '/body/redirectUrl', message: 'must be string' },
    ])
  })
})
