import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { DOCUMENT_FACE_MATCH, RELEASED_MODELS } from '@ostiary/contract'
import { NETS } from '@ostiary/faces'
import { releasedManifest } from './manifest.ts'
import { SOURCES } from './sources.ts'

test('the tables give exactly the set that the server takes results from', () => {
  const { id, hash } = releasedManifest()
  assert.deepEqual(RELEASED_MODELS.at(-1), { id, hash })
})

test('the manifest lists every net the engine knows, once', () => {
  assert.deepEqual(
    releasedManifest()
      .nets.map(({ id }) => id)
      .sort(),
    [...NETS].sort(),
  )
})

test('the address of a net holds its digest, and its source is one of the pinned files', () => {
  for (const { id, file, sha256, bytes, provenance } of releasedManifest().nets) {
    assert.match(sha256, /^[0-9a-f]{64}$/, id)
    assert.equal(file, `${id}/${sha256.slice(0, 12)}/${id}.onnx`)
    assert.ok(bytes > 0, id)
    const source = SOURCES.find(({ name, version }) => name === provenance.package && version === provenance.version)
    assert.ok(
      source?.files.some(({ path }) => path === provenance.file),
      `${id}: ${provenance.file}`,
    )
  }
})

test('a net we did not convert has the digest of its source', () => {
  const pinned = new Map(SOURCES.flatMap(({ files }) => files).map(({ path, sha256 }) => [path, sha256]))
  const taken = releasedManifest().nets.filter(({ provenance }) => !provenance.converted)
  assert.deepEqual(
    taken.map(({ id }) => id),
    ['fr_feature', 'fr_eye', 'fr_liveness'],
  )
  for (const { sha256, provenance } of taken) assert.equal(sha256, pinned.get(provenance.file))
})

test('the thresholds for the portrait of a document are those that the service asks for by default', () => {
  const { documentMatchMin, documentRetryMin } =
    releasedManifest().nets.find(({ id }) => id === 'fr_feature')?.thresholds ?? {}
  assert.deepEqual({ threshold: documentMatchMin, betterLightFrom: documentRetryMin }, DOCUMENT_FACE_MATCH)
})

test('the model card names every net with its digest, source and licence', () => {
  const card = readFileSync(new URL('../docs/models.md', import.meta.url), 'utf8')
  const { id, hash, nets } = releasedManifest()
  assert.ok(card.includes(id) && card.includes(hash), 'the set')
  for (const net of nets) {
    const { package: from, version, file } = net.provenance
    for (const fact of [`\`${net.id}\``, net.sha256, `${from}@${version}`, file, net.licence])
      assert.ok(card.includes(fact), `docs/models.md says nothing of ${fact} (${net.id})`)
  }
})
