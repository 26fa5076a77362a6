import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Tensor } from '@ostiary/faces'
import { provideSources } from './fetch.ts'
import { distance, type Golden, goldenOf, testInput } from './golden.ts'
import { MODELS_FOLDER, releasedManifest } from './manifest.ts'
import { deepAgeNet, NET_ENTRIES, type NetEntry } from './nets.ts'
import { createNet, loadNetFromDisk, readManifest } from './node-nets.ts'

const GOLDEN: Golden = JSON.parse(readFileSync(new URL('golden.json', import.meta.url), 'utf8'))
const load = loadNetFromDisk()

/** By the size of the output: the sums of a convolution are made in another order here. */
const TOLERANCE = 1e-4
/** What half the bits of `faceres_deep` may cost. */
const HALF_YEARS_MAX = 0.15

test('the manifest on disk is the released one', () => {
  assert.deepEqual(readManifest(), JSON.parse(JSON.stringify(releasedManifest())))
})

for (const entry of NET_ENTRIES) {
  test(`${entry.id} is on disk with its digest and gives the outputs it is listed with`, async () => {
    const listed = readManifest().nets.find(({ id }) => id === entry.id)
    const bytes = readFileSync(join(MODELS_FOLDER, listed?.file ?? ''))
    assert.equal(createHash('sha256').update(bytes).digest('hex'), entry.sha256)
    const outputs = await (await load(entry.id)).run(testInput(entry))
    for (const { name, dims } of entry.outputs) {
      assert.deepEqual([...(outputs[name]?.dims ?? [])], [1, ...dims], `${entry.id} ${name}`)
      assert.ok(outputs[name]?.data.every(Number.isFinite), `${entry.id} ${name}`)
    }
  })
}

const IN_FULL = NET_ENTRIES.filter(({ id, provenance }) => provenance.converted && id !== 'faceres_deep')

for (const entry of IN_FULL)
  test(`${entry.id}, converted, answers like the original`, async () => {
    assertGolden(entry, await (await load(entry.id)).run(testInput(entry)))
  })

test('faceres_deep answers like the original, and in half precision with nearly the same age', async () => {
  const entry = NET_ENTRIES.find(({ id }) => id === 'faceres_deep')
  assert.ok(entry)
  const sources = provideSources(join(MODELS_FOLDER, 'source'), (text) => {
    throw new Error(`Tests fetch nothing (${text}): remove .models and run tools/bootstrap`)
  })
  const full = await (await createNet(deepAgeNet(sources, { half: false }))).run(testInput(entry))
  assertGolden(entry, full)
  const half = await (await load('faceres_deep')).run(testInput(entry))
  const yearsOf = ({ Softmax_1: shares }: Outputs) =>
    Array.from(shares?.data ?? []).reduce((sum, share, age) => sum + share * age, 0)
  const years = Math.abs(yearsOf(half) - yearsOf(full))
  assert.ok(years > 0 && years <= HALF_YEARS_MAX, `${years} years`)
})

type Outputs = Readonly<Record<string, Tensor>>

function assertGolden({ id, outputs }: NetEntry, found: Outputs): void {
  const golden = GOLDEN[id] ?? {}
  assert.deepEqual(Object.keys(golden).sort(), outputs.map(({ name }) => name).sort())
  for (const [name, wanted] of Object.entries(golden)) {
    const apart = distance(goldenOf(found[name]?.data ?? []), wanted)
    assert.ok(apart <= TOLERANCE, `${id} ${name} is ${apart} away`)
  }
}
