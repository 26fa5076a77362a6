import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHarness } from '../testing/harness.ts'

const harness = await createHarness()

async function newHosts() {
  const plan = { usagePlanId: 'unmetered' }
  const [one, other] = await Promise.all([harness.tenantWithKey(plan), harness.tenantWithKey(plan)])
  return [one, other] as const
}

test('of concurrent calls of two tenants each gets only its own strings', async () => {
  const hosts = await newHosts()
  const made = await Promise.all(
    Array.from({ length: 70 }, async (_, index) => {
      const { key } = hosts[index % 2] ?? assert.fail()
      const payload = {
        value: `value ${index}`,
        ...(index % 3 === 0 && { metadata: { order: index } }),
        ...(index % 5 === 0 && { ttlSeconds: 60 }),
      }
      const response = await harness.inject({
        method: 'POST',
        url: '/strings',
        headers: { 'x-api-key': key },
        payload,
      })
      assert.equal(response.statusCode, 201)
      return { key, otherKey: (hosts[1 - (index % 2)] ?? assert.fail()).key, payload, record: response.json() }
    }),
  )
  const read = (id: string, key: string) => harness.inject({ url: `/strings/${id}`, headers: { 'x-api-key': key } })
  const answers = await Promise.all(
    made.flatMap(({ record, key, otherKey }) => [read(record.id, key), read(record.id, otherKey)]),
  )
  for (const [index, { record, payload }] of made.entries()) {
    const [own, foreign] = [answers[2 * index], answers[2 * index + 1]]
    assert.deepEqual([own?.statusCode, own?.json()], [200, record])
    assert.equal(foreign?.statusCode, 404)
    assert.deepEqual([record.value, record.metadata], [payload.value, payload.metadata])
  }

  harness.clock.advance(60_000)
  const later = await Promise.all(made.map(({ record, key }) => read(record.id, key)))
  assert.deepEqual(
    later.map(({ statusCode }) => statusCode),
    made.map((_, index) => (index % 5 === 0 ? 404 : 200)),
  )
})

test('concurrent reads of one id all get the record', async () => {
  const [{ key }] = await newHosts()
  const headers = { 'x-api-key': key }
  const made = await harness.inject({ method: 'POST', url: '/strings', headers, payload: { value: 'asked for' } })
  const { id } = made.json()
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => harness.inject({ url: `/strings/${id}`, headers })),
  )
  for (const answer of answers) assert.deepEqual(answer.json(), made.json())
})
