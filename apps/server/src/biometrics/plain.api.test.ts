import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createHarness, type Harness } from '../testing/harness.ts'
import { createFaces, feature } from './testing/faces.ts'

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const faces = createFaces(3)
let harness: Harness
let key: string
before(async () => {
  harness = await createHarness()
  ;({ key } = await harness.tenantWithKey({ scopes: ['node:*'] }))
})
after(() => harness.close())

async function post(path: string, body: object, headers: Record<string, string> = { 'x-api-key': key }) {
  const response = await harness.inject({ method: 'POST', url: `/node/${path}`, headers, payload: body })
  return { http: response.statusCode, body: response.json(), headers: response.headers }
}

describe('POST /node/plainEnroll', () => {
  test('[E-005] [E-011] [E-012] [E-018] [E-019] [E-031] [E-055] a new user is answered Ok with ids and level', async () => {
    const { http, body } = await post(
      'plainEnroll',
      { api_key: key, version: 'FACE3_3', features: feature(faces.person()) },
      {},
    )
    assert.equal(http, 200)
    const { puid, guid } = body
    assert.deepEqual(body, { status: 0, statusCode: 200, message: 'Ok', puid, guid, enroll_level: 1 })
    assert.match(puid, ID)
    assert.match(guid, ID)
  })

  test('[E-030] the same face again, in another picture, is the existing user', async () => {
    const face = faces.person()
    const first = await post('plainEnroll', { features: feature(face) })
    const second = await post('plainEnroll', { features: feature(faces.sample(face, 0.7)) })
    const { puid, guid } = first.body
    assert.equal(second.http, 200)
    assert.deepEqual(second.body, {
      status: 0,
      statusCode: 200,
      message: 'User Already Enrolled',
      puid,
      guid,
      enroll_level: 1,
    })
  })
})

describe('POST /node/plainPredict', () => {
  test('[E-014] [E-021] [E-022] [E-036] an enrolled user is recognised with a number as score', async () => {
    const face = faces.person()
    const { body: enrolled } = await post('plainEnroll', { features: feature(face) })
    const { http, body } = await post('plainPredict', { features: feature(faces.sample(face, 0.8)) })
    assert.equal(http, 200)
    const { puid, guid } = enrolled
    assert.deepEqual(body, {
      status: 0,
      statusCode: 200,
      message: 'Ok',
      puid,
      guid,
      score: body.score,
      enroll_level: 1,
    })
    assert.ok(body.score > 0.97 && body.score < 0.99, String(body.score))
  })

  test('[E-038] [E-039] [E-056] a stranger is answered 200 with status -1 and -1 everywhere', async () => {
    const { http, body } = await post('plainPredict', { features: feature(faces.person()) })
    assert.equal(http, 200)
    assert.deepEqual(body, {
      status: -1,
      statusCode: 200,
      message: 'User not enrolled',
      puid: '-1',
      guid: '-1',
      score: -1,
    })
  })
})
