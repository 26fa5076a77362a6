import assert from 'node:assert/strict'
import { test } from 'node:test'
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
