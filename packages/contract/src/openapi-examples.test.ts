/**
 * A new operation needs an example for each 2xx answer with a body, and for its JSON request: `examples` on the schema itself, or an
 * entry in `examples/` by its operationId.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import {
  EVENT_EXAMPLES,
  EXAMPLES,
  type NamedExamples,
  OPENAPI_PARTS,
  OPERATIONS,
  type Operation,
  toOpenApi,
  VERSION,
  WEBHOOK_EVENTS,
} from './index.ts'

interface Content {
  example?: unknown
  examples?: Record<string, { summary: string; value: unknown }>
}
interface OperationObject {
  requestBody?: { content: Record<string, Content> }
  responses: Record<string, { content?: Record<string, Content> }>
}

const document = JSON.parse(
  JSON.stringify(toOpenApi(OPERATIONS, { title: 'Ostiary', version: VERSION }, OPENAPI_PARTS)),
) as { paths: Record<string, Record<string, OperationObject>>; webhooks: Record<string, { post: OperationObject }> }

const objectOf = ({ path, method }: Operation) => {
  const found = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
  return found ?? assert.fail(`${method} ${path} is not in the document`)
}

/** The examples that a reader sees for one body. */
function shownIn(content: Content | undefined): unknown[] {
  if (content?.example !== undefined) return [content.example]
  return Object.values(content?.examples ?? {}).map(({ value }) => value)
}

/** A schema that leaves unknown fields open cannot find a misspelt one, so every object is closed for the check. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  const isOpen = copy.type === 'object' && Object.keys((copy.properties as object | undefined) ?? {}).length > 0
  return isOpen ? { additionalProperties: false, ...copy } : copy
}

function assertFits(schema: TSchema, value: unknown, where: string): void {
  const errors = Compile(closed(schema) as TSchema).Errors(value)
  assert.deepEqual(
    errors.map(({ instancePath, message }) => `${where}: ${instancePath} ${message}`),
    [],
  )
}

/** Bodies that are mostly encrypted bytes or hundreds of numbers, which nobody reads or sends by hand. */
const WITHOUT_REQUEST = [
  'nodeEnroll',
  'nodePlainEnroll',
  'nodePredict',
  'nodePlainPredict',
  'nodeDeleteUser',
  'screenFile',
]

describe('every 2xx answer with a body has an example that fits its schema', () => {
  for (const operation of OPERATIONS) {
    const replies = Object.entries(operation.success).filter(([, { schema }]) => schema !== null)
    for (const [status, { schema }] of replies) {
      test(`${operation.operationId} ${status}`, () => {
        const shown = shownIn(objectOf(operation).responses[status]?.content?.['application/json'])
        const how = `give it an example in packages/contract/src/examples, or its schema \`examples\``
        assert.ok(shown.length > 0, `${operation.operationId} shows no ${status}: ${how}`)
        for (const example of shown) assertFits(schema as TSchema, example, `${operation.operationId} ${status}`)
      })
    }
  }
})

describe('every request that an integrator writes has an example that fits its schema', () => {
  const written = OPERATIONS.filter(({ body, group }) => body && group !== 'device')
  for (const operation of written.filter(({ operationId }) => !WITHOUT_REQUEST.includes(operationId))) {
    test(operation.operationId, () => {
      for (const [type, content] of Object.entries(objectOf(operation).requestBody?.content ?? {})) {
        const shown = shownIn(content)
        assert.ok(shown.length > 0, `${operation.operationId} shows no request of ${type}`)
        if (type === 'text/plain') continue
        for (const example of shown) assertFits(operation.body as TSchema, example, operation.operationId)
      }
    })
  }

  test('the others are as they were', () => {
    const ids = written.map(({ operationId }) => operationId)
    assert.deepEqual(
      WITHOUT_REQUEST.filter((id) => !ids.includes(id)),
      [],
    )
  })
})

describe('every event has examples that fit its schema', () => {
  for (const [name, { body }] of Object.entries(WEBHOOK_EVENTS)) {
    test(name, () => {
      const shown = shownIn(document.webhooks[name]?.post.requestBody?.content['application/json'])
      assert.ok(shown.length > 0)
      for (const example of shown) assertFits(body, example, name)
    })
  }
})

test('examples stand under names of operations, statuses and events that exist', () => {
  for (const [operationId, { request, replies = {} }] of Object.entries(EXAMPLES)) {
    const operation = OPERATIONS.find((op) => op.operationId === operationId)
    assert.ok(operation, `${operationId} is no operation`)
    assert.ok(request === undefined || operation.body, `${operationId} takes no body`)
    for (const status of Object.keys(replies)) assert.ok(operation.success[Number(status)]?.schema, operationId)
  }
  assert.deepEqual(Object.keys(EVENT_EXAMPLES), Object.keys(WEBHOOK_EVENTS))
})

test('examples name invented hosts only, and each has its own summary', () => {
  const text = JSON.stringify([EXAMPLES, EVENT_EXAMPLES])
  const hosts = [...text.matchAll(/https?:\/\/([^/"?#]+)/g)].map(([, host]) => host)
  assert.deepEqual(
    hosts.filter((host) => !host?.endsWith('.example')),
    [],
  )
  const named: NamedExamples[] = [
    ...Object.values(EVENT_EXAMPLES),
    ...Object.values(EXAMPLES).flatMap(({ request = {}, replies = {} }) => [request, ...Object.values(replies)]),
  ]
  for (const summary of named.flatMap(Object.keys)) assert.match(summary, /^[A-Z]/)
})
