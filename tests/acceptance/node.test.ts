/** Area E as a customer uses it: through the SDK, against a running installation. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, type Feature, OstiaryError } from '@ostiary/sdk'

const baseUrl = process.env.OSTIARY_URL ?? ''
const client = (name: string) => createClient({ baseUrl, apiKey: process.env[name] ?? '' }).node
const one = client('OSTIARY_TEST_KEY_ONE')
const live = client('OSTIARY_LIVE_KEY_ONE')
const two = client('OSTIARY_TEST_KEY_TWO')

const random = () => crypto.getRandomValues(new Uint32Array(1))[0] ?? 0
const face = (dimension: number) => Array.from({ length: dimension }, () => random() / 2 ** 31 - 1)
const picture = (of: readonly number[]): Feature => ({
  type: 'face',
  embedding_vector: of.map((value) => value + (random() / 2 ** 31 - 1) * 0.05),
})

test('[E-015] [E-045] the key check tells a good key from a wrong one', async () => {
  assert.deepEqual(await one.checkKey(), { status: 0, message: 'API Key is valid' })
  const response = await fetch(`${baseUrl}/node/api-key/checkApiKeyValid`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: 'no key at all' }),
  })
  assert.equal(response.status, 403)
  assert.deepEqual(await response.json(), { status: -1, message: 'Failed to check api key' })
})

test('[E-016] [E-020] [E-023] [E-040] enrol, recognise, compare with one, delete: encrypted', async () => {
  const someone = face(128)
  const name = `customer-${random()}`
  const enrolled = await one.enroll([picture(someone), picture(someone), picture(someone)], { metadataId: name })
  assert.deepEqual([enrolled.isNew, enrolled.enrollLevel], [true, 2])
  const again = await one.enroll([picture(someone)])
  assert.deepEqual(again, { ...enrolled, isNew: false })

  const [found] = await one.predict([picture(someone)])
  assert.deepEqual([found?.puid, found?.guid], [enrolled.puid, enrolled.guid])
  assert.equal((await one.predict([picture(someone)], { K: 5 }))[0]?.puid, enrolled.puid)
  assert.equal((await one.predict([picture(someone)], { userIdentifier: name }))[0]?.puid, enrolled.puid)
  assert.deepEqual(await one.predict([picture(face(128))], { userIdentifier: name }), [])
  assert.deepEqual(await live.predict([picture(someone)]), [], 'live data is apart')

  assert.equal(await two.deleteUser(enrolled.puid), false, 'another tenant cannot')
  assert.equal(await one.deleteUser(enrolled.puid), true)
  assert.equal(await one.deleteUser(enrolled.puid), false)
  assert.deepEqual(await one.predict([picture(someone)]), [])
})

test('[E-018] [E-021] [E-025] the same with plain features', async () => {
  const someone = face(512)
  const enrolled = await one.plainEnroll(picture(someone))
  assert.equal(enrolled.isNew, true)
  const [found] = await one.plainPredict(picture(someone))
  assert.equal(found?.puid, enrolled.puid)
  assert.ok((found?.score ?? 0) >= 0.9)
  assert.equal(await one.deleteUser(enrolled.puid), true)
})

test('[E-048] errors say what is wrong and carry area E’s own number', async () => {
  await assert.rejects(one.plainEnroll({ type: 'face', embedding_vector: [1, 2, 3] }), (error: unknown) => {
    assert.ok(error instanceof OstiaryError)
    assert.deepEqual([error.status, error.nodeStatus], [400, -2])
    assert.match(error.message, /must have 512 entries for FACE3_3/)
    return true
  })
})
