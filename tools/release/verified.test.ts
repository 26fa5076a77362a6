/** Looks at what `npm run release -- verify` left in .reports. The gate runs that before this. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ROOT } from '@ostiary/testkit/root'
import { readMaterials, type Verified } from './main.ts'
import { DIGEST_COMMAND } from './page.ts'
import { makeSbom, PRODUCTS } from './sbom.ts'

const REPORTS = `${ROOT}.reports/`
const read = (path: string) => readFileSync(path, 'utf8')
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function find(): Verified | undefined {
  const path = `${REPORTS}release/verified.json`
  if (!existsSync(path)) return undefined
  const verified = JSON.parse(read(path)) as Verified
  return verified.lockfile === sha256(read(`${ROOT}package-lock.json`)) ? verified : undefined
}

const verified = find()
const skip = verified ? false : 'nothing to look at: npm run release -- verify'

test('two builds of the page in two folders have one digest, that of the list of its files', { skip }, () => {
  const builds = verified?.builds ?? []
  assert.equal(new Set(builds.map(({ folder }) => folder)).size, 2)
  const [digest, ...others] = new Set(builds.map((build) => build.digest))
  assert.match(String(digest), /^[0-9a-f]{64}$/)
  assert.deepEqual(others, [])
  const sums = read(`${REPORTS}release/page-sha256sums.txt`)
  assert.equal(sha256(sums), digest)
  const paths = sums.split('\n').flatMap((line) => /^[0-9a-f]{64} {2}(\S+)$/.exec(line)?.[1] ?? [])
  assert.deepEqual(paths, paths.toSorted())
  for (const wanted of [/^index\.html$/, /^service-worker\.js$/, /^assets\/index-.*\.js$/, /^ort\/.*\.wasm$/])
    assert.ok(
      paths.some((path) => wanted.test(path)),
      String(wanted),
    )
  const nets = readMaterials().models.nets.map(({ sha256: pinned }) => pinned)
  assert.deepEqual(
    nets.filter((pinned) => !sums.includes(`${pinned}  models/`)),
    [],
  )
})

test('the bills of materials are written, and are those of this checkout', { skip }, () => {
  const materials = readMaterials()
  for (const product of PRODUCTS) {
    const path = `sbom/${product.id}.cdx.json`
    const text = read(`${REPORTS}${path}`)
    assert.equal(sha256(text), verified?.sboms[path])
    assert.equal(text, `${JSON.stringify(makeSbom(product, materials), null, 2)}\n`)
  }
})

test('docs/releasing.md shows the command that computes the digest', () => {
  assert.ok(read(`${ROOT}docs/releasing.md`).split('\n').includes(DIGEST_COMMAND))
})
