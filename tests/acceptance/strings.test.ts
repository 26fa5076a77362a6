import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { createClient, OstiaryError } from '@ostiary/sdk'
import { ROOT } from '@ostiary/testkit/run'
import { setting } from '@ostiary/testkit/setting'

const baseUrl = setting('OSTIARY_URL')
const ostiary = createClient({ baseUrl, apiKey: setting('OSTIARY_TEST_KEY_ONE') })
const stranger = createClient({ baseUrl, apiKey: setting('OSTIARY_TEST_KEY_TWO') })
const live = createClient({ baseUrl, apiKey: setting('OSTIARY_LIVE_KEY_ONE') })

const isNotFound = (error: unknown) =>
  error instanceof OstiaryError && error.status === 404 && error.code === 'NOT_FOUND'

test('[A-001] [A-002] the descriptor is an object with service, version and endpoints, the first two texts', async () => {
  const response = await fetch(baseUrl)
  assert.equal(response.status, 200)
  assert.match(String(response.headers.get('content-type')), /^application\/json/)
  const descriptor = (await response.json()) as Record<string, unknown>
  assert.deepEqual(Object.keys(descriptor).sort(), ['areas', 'endpoints', 'service', 'version'])
  assert.equal(typeof descriptor.service, 'string')
  assert.match(String(descriptor.version), /^\d+\.\d+\.\d+/)
  assert.equal(typeof descriptor.endpoints, 'object')
})

test('the descriptor names the five areas, what each does, and a document that is there', async () => {
  const { areas } = await ostiary.describe()
  assert.deepEqual(
    areas.map(({ name }) => name),
    ['strings', 'sanctions', 'age', 'verification', 'biometrics'],
  )
  for (const { does, document } of areas) {
    assert.match(does, /^[A-Z].*\.$/)
    assert.ok(existsSync(`${ROOT}${document}`), document)
  }
})

test('[A-003] [A-004] [A-005] the endpoints are the five operations, each as method and path', async () => {
  const { endpoints } = await ostiary.describe()
  assert.deepEqual(endpoints, {
    health: 'GET /health',
    createString: 'POST /strings',
    listStrings: 'GET /strings',
    getString: 'GET /strings/:id',
    deleteString: 'DELETE /strings/:id',
  })
  for (const value of Object.values(endpoints)) assert.match(value, /^(GET|POST|PUT|PATCH|DELETE) \/\S*$/)
})

test('[A-006] every operation of the descriptor is served at its method and path', async () => {
  const { endpoints } = await ostiary.describe()
  const { id } = await ostiary.strings.create({ value: 'for the descriptor' })
  const expected: Record<string, number> = {
    health: 200,
    createString: 201,
    listStrings: 200,
    getString: 200,
    deleteString: 204,
  }
  for (const [name, value] of Object.entries(endpoints)) {
    const [method = '', path = ''] = value.split(' ')
    const response = await fetch(baseUrl + path.replace(':id', id), {
      method,
      headers: {
        'x-api-key': setting('OSTIARY_TEST_KEY_ONE'),
        ...(method === 'POST' && { 'content-type': 'application/json' }),
      },
      ...(method === 'POST' && { body: '{"value":"x"}' }),
    })
    assert.equal(response.status, expected[name], value)
  }
})

test('[A-007] the health check answers that the service and its store work', async () => {
  const health = await ostiary.health()
  assert.equal(health.status, 'ok')
  assert.deepEqual(health.checks, { store: 'ok' })
})

test('[A-008] [A-010] a created string can be read by its id, with the content it was created with', async () => {
  const value = `Ünïcode ✓ ${randomUUID()}\n  kept as it is `
  const created = await ostiary.strings.create({ value, metadata: { order: [3, 1, 2] } })
  const read = await ostiary.strings.get(created.id)
  assert.deepEqual(read, created)
  assert.equal(read.value, value)
  assert.deepEqual(read.metadata, { order: [3, 1, 2] })
})

test('[A-009] the list holds a string that was just created, and pages through all', async () => {
  const made: string[] = []
  for (let i = 0; i < 7; i++) made.push((await ostiary.strings.create({ value: `listed ${i}` })).id)
  assert.equal((await ostiary.strings.list()).items[0]?.id, made.at(-1))
  const seen: string[] = []
  for await (const { id } of ostiary.strings.all({ limit: 3 })) seen.push(id)
  assert.equal(new Set(seen).size, seen.length)
  for (const id of made) assert.ok(seen.includes(id))
})

test('[A-011] [A-012] a deleted string is neither served nor listed, and the others stay', async () => {
  const [gone, kept] = [
    await ostiary.strings.create({ value: 'gone' }),
    await ostiary.strings.create({ value: 'kept' }),
  ]
  await ostiary.strings.delete(gone.id)
  await assert.rejects(ostiary.strings.get(gone.id), isNotFound)
  await assert.rejects(ostiary.strings.delete(gone.id), isNotFound)
  const listed = (await ostiary.strings.list({ limit: 200 })).items.map(({ id }) => id)
  assert.ok(!listed.includes(gone.id) && listed.includes(kept.id))
  assert.deepEqual(await ostiary.strings.get(kept.id), kept)
})

test('another tenant, and the live side of the same tenant, see nothing of a test record', async () => {
  const { id } = await ostiary.strings.create({ value: 'mine' })
  for (const other of [stranger, live]) {
    await assert.rejects(other.strings.get(id), isNotFound)
    await assert.rejects(other.strings.delete(id), isNotFound)
  }
})

test('the client repeats a lost create with its idempotency key, so that one record is made', async () => {
  let lost = 0
  const flaky: typeof fetch = async (...args) => {
    const response = await fetch(...args)
    if (lost++ < 2) throw new TypeError('the answer was lost on the way')
    return response
  }
  const value = `once ${randomUUID()}`
  const created = await createClient({ baseUrl, apiKey: setting('OSTIARY_TEST_KEY_ONE'), fetch: flaky }).strings.create(
    { value },
  )
  const found: string[] = []
  for await (const record of ostiary.strings.all({ limit: 200 })) if (record.value === value) found.push(record.id)
  assert.deepEqual(found, [created.id])
  assert.equal(lost, 3)
})

test('errors arrive with status, code, request id and details; a cut-off key is found before any call', async () => {
  await assert.rejects(ostiary.strings.create({ value: '' }), (error: unknown) => {
    assert.ok(error instanceof OstiaryError)
    assert.deepEqual([error.status, error.code, error.details[0]?.pointer], [400, 'VALIDATION_FAILED', '/body/value'])
    assert.match(String(error.requestId), /^[0-9a-f-]{36}$/)
    return true
  })
  assert.throws(
    () => createClient({ baseUrl, apiKey: setting('OSTIARY_TEST_KEY_ONE').slice(0, -1) }),
    /copied completely/,
  )
  await assert.rejects(
    createClient({ baseUrl: 'http://127.0.0.1:9', maxRetries: 0 }).health(),
    (error: unknown) => error instanceof OstiaryError && error.status === 0,
  )
})
