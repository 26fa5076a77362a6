/** The request examples of the OpenAPI document, sent to the service as they stand. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { OPERATIONS, type Operation } from '@ostiary/contract'
import { createVerificationHost } from './verification/testing/fixture.ts'

interface Content {
  schema: { $ref?: string }
  example?: unknown
  examples?: Record<string, { value: unknown }>
}
interface OpenApi {
  paths: Record<string, Record<string, { requestBody: { content: Record<string, Content> } }>>
  components: { schemas: Record<string, { examples?: unknown[] }> }
}

const { fixture, host } = await createVerificationHost(
  {},
  { scopes: ['age:write', 'age:read', 'verify:write', 'verify:read'] },
)
const document: OpenApi = (await fixture.harness.inject('/openapi.json')).json()

/** Every example that a reader can find for the body: at the operation and at its schema. */
function examplesOf({ path, method }: Operation): unknown[] {
  const operation = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
  const { schema, example, examples = {} } = operation?.requestBody.content['application/json'] ?? assert.fail(path)
  const name = schema.$ref?.split('/').pop() ?? ''
  const shown = [example, ...Object.values(examples).map(({ value }) => value)]
  return [...shown, ...(document.components.schemas[name]?.examples ?? [])].filter((value) => value !== undefined)
}

/** Where the path names a session, each example gets a new one of the kind that it is about. */
async function pathFor({ path }: Operation, example: unknown): Promise<string> {
  if (!path.includes(':')) return path
  const isOfAge = path.startsWith('/session/') || JSON.stringify(example).includes('AGE_')
  if (!isOfAge) return path.replace(/:\w+/, (await host.create()).sessionId)
  const created = await host.call('POST', '/session', { redirectUrl: 'https://shop.example', ageThreshold: 30 })
  const { token, sessionId } = created.json()
  return path.replace(':token', token).replace(':id', sessionId)
}

const withBody = OPERATIONS.filter(
  ({ area, body, group, bodyTypes }) => 'CD'.includes(area) && body && group !== 'device' && !bodyTypes,
)

describe('no request example of areas C and D earns a warning or is refused as not valid', () => {
  for (const operation of withBody) {
    test(operation.operationId, async () => {
      const examples = examplesOf(operation)
      assert.ok(examples.length > 0)
      for (const example of examples) {
        const answer = await host.call(operation.method, await pathFor(operation, example), example as object)
        const text = `${JSON.stringify(example)}: ${answer.statusCode} ${answer.body}`
        assert.equal(answer.headers['x-config-warning'], undefined, text)
        // The code of a redirect is one that was never given out.
        assert.ok(answer.statusCode < 300 || answer.json().code !== 'VALIDATION_FAILED', text)
      }
    })
  }

  test('the examples of a creation create', async () => {
    for (const operation of withBody.filter(({ success }) => 201 in success))
      for (const example of examplesOf(operation)) {
        const created = await host.call('POST', operation.path, example as object)
        assert.equal(created.statusCode, 201, created.body)
      }
  })
})
