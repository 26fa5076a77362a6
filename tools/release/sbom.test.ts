import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { ROOT } from '@ostiary/testkit/root'
import { readMaterials } from './main.ts'
import { makeSbom, PRODUCTS, readNeeded, type Sbom } from './sbom.ts'

const materials = readMaterials()
const LOCKED = Object.entries<Locked>(JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')).packages)
/** Everything else needs somebody's decision. */
const LICENCES = ['0BSD', 'Apache-2.0', 'BSD-3-Clause', 'ISC', 'MIT', '(MIT OR CC0-1.0)']

const librariesOf = ({ components }: Sbom) => components.filter(({ type }) => type === 'library')

for (const product of PRODUCTS) {
  describe(product.id, () => {
    const sbom = makeSbom(product, materials)

    test('the document has what CycloneDX 1.6 asks for', () => {
      assert.deepEqual([sbom.bomFormat, sbom.specVersion, sbom.version], ['CycloneDX', '1.6', 1])
      assert.match(sbom.serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      const all = [sbom.metadata.component, ...sbom.components]
      const refs = all.map((component) => component['bom-ref'])
      assert.equal(new Set(refs).size, refs.length, 'each reference names one component')
      assert.deepEqual(sbom.dependencies.map(({ ref }) => ref).sort(), [...refs].sort())
      for (const { ref, dependsOn } of sbom.dependencies)
        for (const target of dependsOn) assert.ok(refs.includes(target), `${ref} depends on ${target}`)
      for (const { name, version, purl, group, hashes = [] } of all) {
        assert.ok(name !== '' && version !== '')
        if (purl) assert.equal(purl, `pkg:npm/${group ? `${group.replace('@', '%40')}/` : ''}${name}@${version}`)
        for (const { alg, content } of hashes)
          assert.match(content, alg === 'SHA-512' ? /^[0-9a-f]{128}$/ : /^[0-9a-f]{64}$/)
      }
    })

    test('every dependency that a package declares is in it with its hash, and nothing that only builds or tests', () => {
      const refs = new Set(sbom.dependencies.map(({ ref }) => ref))
      const declared = new Set<string>()
      for (const { group, name, version, hashes } of [sbom.metadata.component, ...librariesOf(sbom)]) {
        const full = group ? `${group}/${name}` : name
        assert.equal(hashes?.[0]?.alg, group === '@ostiary' ? undefined : 'SHA-512', full)
        for (const one of lockedAs(full, version))
          for (const need of Object.keys(one.dependencies ?? {})) declared.add(need)
      }
      const listed = new Set([...refs].map((ref) => ref.slice(0, ref.lastIndexOf('@'))))
      const isThere = (need: string) => listed.has(need) || lockedAs(need).some(({ name }) => name && listed.has(name))
      assert.deepEqual(
        [...declared].filter((need) => !isThere(need)),
        [],
      )
      for (const builder of ['vite', 'typescript', '@biomejs/biome', '@ostiary/testkit', '@redocly/openapi-core'])
        assert.ok(!listed.has(builder), builder)
    })

    test('every component has a licence, and it is one of those we accept', () => {
      for (const { name, licenses } of librariesOf(sbom)) {
        assert.equal(licenses?.length, 1, name)
        const [licence] = licenses ?? []
        const text = licence && 'expression' in licence ? licence.expression : Object.values(licence?.license ?? {})[0]
        assert.ok(LICENCES.includes(String(text)), `${name}: ${text}`)
      }
    })

    test('the same checkout gives the same bytes, and another package another serial number', () => {
      assert.equal(JSON.stringify(makeSbom(product, readMaterials())), JSON.stringify(sbom))
      const jose = librariesOf(sbom).find(({ name }) => name === 'jose') ?? assert.fail('no jose')
      const components = materials.bill.components.map((one) =>
        one['bom-ref'] === jose['bom-ref'] ? { ...one, hashes: [{ alg: 'SHA-512' as const, content: '00' }] } : one,
      )
      assert.notEqual(makeSbom(product, { ...materials, bill: { components } }).serialNumber, sbom.serialNumber)
    })
  })
}

test('the page lists its nets with the digests that the build checks', () => {
  const nets = ({ components }: Sbom) => components.filter(({ type }) => type === 'machine-learning-model')
  const [server, page, sdk] = PRODUCTS.map((product) => makeSbom(product, materials))
  assert.ok(server && page && sdk)
  assert.deepEqual([nets(server).length, nets(sdk).length], [0, 0])
  assert.deepEqual(
    nets(page).map(({ name, hashes }) => [name, hashes]),
    materials.models.nets.map(({ id, sha256 }) => [id, [{ alg: 'SHA-256', content: sha256 }]]),
  )
  assert.ok(nets(page).length >= 8)
})

test('the image installs the workspaces that the bill of the server lists', () => {
  const dockerfile = readFileSync(`${ROOT}deploy/Dockerfile`, 'utf8')
  const [install = ''] = /npm ci --omit=dev [^\n\\]*/.exec(dockerfile) ?? []
  const installed = [...install.matchAll(/--workspace=(\S+)/g)].map(([, workspace]) => workspace)
  assert.deepEqual(installed, PRODUCTS.find(({ id }) => id === 'server')?.workspaces)
})

test('a package that stands twice in npm’s tree has all that it needs, and what is optional and not there is left out', () => {
  const shared = { name: 'shared', version: '2.0.0' }
  const tree = {
    dependencies: {
      '@our/app': {
        name: '@our/app',
        version: '1.0.0',
        dependencies: {
          old: { name: 'old', version: '1.0.0', dependencies: { 'for-other-machines': {}, shared } },
          alias: { name: 'real', version: '3.0.0' },
        },
      },
      '@our/second': {
        name: '@our/second',
        version: '1.0.0',
        dependencies: { old: { name: 'old', version: '1.0.0' } },
      },
    },
  }
  assert.deepEqual(
    [...readNeeded(tree)].map(([ref, needs]) => [ref, [...needs]]),
    [
      ['@our/app@1.0.0', ['old@1.0.0', 'real@3.0.0']],
      ['old@1.0.0', ['shared@2.0.0']],
      ['shared@2.0.0', []],
      ['real@3.0.0', []],
      ['@our/second@1.0.0', ['old@1.0.0']],
    ],
  )
})

interface Locked {
  name?: string
  version?: string
  dependencies?: Record<string, string>
}

/** The entries of package-lock.json for a package, which may be installed under another name or stand in a workspace. */
function lockedAs(name: string, version?: string): Locked[] {
  return LOCKED.filter(
    ([path, one]) =>
      (path.endsWith(`node_modules/${name}`) || one.name === name) && (!version || one.version === version),
  ).map(([, one]) => one)
}
