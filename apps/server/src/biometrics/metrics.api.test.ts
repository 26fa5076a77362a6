import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHarness } from '../testing/harness.ts'
import { BUILT_IN_MODELS } from './models.ts'
import { createFaces, feature } from './testing/faces.ts'

const faces = createFaces(31)
const harness = await createHarness()
const { key } = await harness.tenantWithKey({ scopes: ['node:*'] })

const post = (path: string, vector: readonly number[]) =>
  harness.inject({
    method: 'POST',
    url: `/node/${path}`,
    headers: { 'x-api-key': key },
    payload: { features: feature(vector) },
  })
const value = async (line: string) =>
  Number(
    (await harness.wire.platform.metrics.text())
      .split('\n')
      .find((one) => one.startsWith(`${line} `))
      ?.split(' ')[1] ?? Number.NaN,
  )

test('enrolments, predictions, filtered vectors and searches are counted', async () => {
  const face = faces.person()
  await post('plainEnroll', face)
  await post('plainEnroll', face)
  await post('plainEnroll', new Array(512).fill(0.5))
  await post('plainPredict', face)
  await post('plainPredict', faces.person())
  assert.equal(await value('ostiary_node_enrolments_total{result="new"}'), 1)
  assert.equal(await value('ostiary_node_enrolments_total{result="existing"}'), 1)
  assert.equal(await value('ostiary_node_enrolments_total{result="refused"}'), 1)
  assert.equal(await value('ostiary_node_vectors_filtered_total{reason="flat"}'), 1)
  assert.equal(await value('ostiary_node_predictions_total{result="recognised"}'), 1)
  assert.equal(await value('ostiary_node_predictions_total{result="not_enrolled"}'), 1)
  assert.equal(await value('ostiary_node_search_seconds_count{purpose="predict",kind="exact"}'), 2)
})

test('the sizes are measured at a scrape, and again after a minute', async () => {
  harness.wire.biometrics.start()
  const first = await value('ostiary_node_bytes{cell="main",part="vectors"}')
  assert.ok(first > 0)
  assert.equal(await value('ostiary_node_bytes{cell="main",part="hnsw"}'), 0)
  await harness.database.query('create table face_vectors_5000 partition of face_vectors for values in (5000)')
  await harness.database.query('create index on face_vectors_5000 using hnsw (embedding halfvec_ip_ops)')
  assert.equal(await value('ostiary_node_bytes{cell="main",part="hnsw"}'), 0)
  harness.clock.advance(61_000)
  assert.ok((await value('ostiary_node_bytes{cell="main",part="hnsw"}')) > 0)
  await harness.database.query('drop table face_vectors_5000')
})

test('more than 1,000 unrecognised predictions of a key in an hour raise an alarm, logged once in ten minutes', async () => {
  const { tenantId, record } = await harness.tenantWithKey({ scopes: ['node:*'] })
  const caller = { tenantId, livemode: false, keyId: record.id, rateFactor: 1 }
  const request = { model: BUILT_IN_MODELS.FACE3_3, vectors: [Float64Array.from(faces.person())], candidates: 1 }
  for (let i = 0; i < 1_000; i++) await harness.wire.biometrics.recognition.recognise(caller, request)
  assert.ok(!((await value('ostiary_node_probing_alarms_total{mode="test"}')) > 0))
  for (let i = 0; i < 5; i++) await harness.wire.biometrics.recognition.recognise(caller, request)
  assert.equal(await value('ostiary_node_probing_alarms_total{mode="test"}'), 5)
  const lines = harness
    .logged()
    .split('\n')
    .filter((line) => line.includes('unrecognised predictions'))
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', new RegExp(record.id))
})
