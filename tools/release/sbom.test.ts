import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { ROOT } from '@ostiary/testkit/root'
import { readMaterials } from './main.ts'
import { makeSbom, PRODUCTS, type Product, type Sbom } from './sbom.ts'

const materials = readMaterials()
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

    test('every production dependency is in it with its hash, and nothing that only builds or tests', () => {
      const listed = librariesOf(sbom).map(
        ({ group, name, version }) => `${group ? `${group}/` : ''}${name}@${version}`,
      )
      assert.deepEqual([...new Set(listed)].sort(), listedByNpm(product))
      for (const { group, name, hashes } of librariesOf(sbom))
        assert.equal(hashes?.[0]?.alg, group === '@ostiary' ? undefined : 'SHA-512', name)
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

/** What npm itself says that these workspaces need to run, without the first one. */
function listedByNpm({ workspaces }: Product): string[] {
  const chosen = workspaces.map((workspace) => `--workspace=${workspace}`)
  const options = ['ls', '--all', '--omit=dev', '--package-lock-only', '--json', ...chosen]
  const printed = execFileSync('npm', options, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const found = new Set<string>()
  const collect = ({ dependencies = {} }: Listed): void => {
    for (const [name, listed] of Object.entries(dependencies)) {
      if (listed.version) found.add(`${realName(name, listed.version)}@${listed.version}`)
      collect(listed)
    }
  }
  collect(JSON.parse(printed) as Listed)
  const main = materials.lockfile[workspaces[0] ?? '']
  found.delete(`${main?.name}@${main?.version}`)
  return [...found].sort()
}

/** npm lists a package that was installed under another name (`ajv` as `npm:@redocly/ajv`) by that name. */
function realName(name: string, version: string): string {
  const isIt = ([path, locked]: [string, { version?: string }]) =>
    path.endsWith(`node_modules/${name}`) && locked.version === version
  return Object.entries(materials.lockfile).find(isIt)?.[1].name ?? name
}

interface Listed {
  version?: string
  dependencies?: Record<string, Listed>
}
