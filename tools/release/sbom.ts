/**
 * Software bills of materials in CycloneDX 1.6: the packages as `npm sbom` describes them, and the manifest of the models. The same inputs give
 * the same bytes: no time, no machine, and the serial number is made of the content.
 *
 * Which packages belong to a product is what `npm ls` says. `npm sbom --omit=dev --workspace=…` leaves out every package that another
 * workspace needs for development (npm 11.19: fastify, pg, typebox and 60 more of the server's).
 */
import { createHash } from 'node:crypto'

export interface Product {
  /** Name of the document: `<id>.cdx.json`. */
  id: 'server' | 'page' | 'sdk'
  /** The package that names the product. */
  main: string
  workspaces: readonly string[]
}

/** What a release consists of. The image has the command line and the key holder too, and the page in its folder. */
export const PRODUCTS: readonly Product[] = [
  {
    id: 'server',
    main: '@ostiary/server',
    workspaces: ['apps/server', 'apps/cli', 'apps/key-holder'],
  },
  { id: 'page', main: '@ostiary/launch', workspaces: ['apps/launch'] },
  { id: 'sdk', main: '@ostiary/sdk', workspaces: ['packages/sdk'] },
]

/** A net of .models/manifest.json. */
export interface Net {
  id: string
  sha256: string
  licence: string
  provenance: { package: string; version: string; file: string }
}

export interface Materials {
  /** By product: what it runs with, by `name@version`, with what each needs. */
  needed: Record<Product['id'], Needed>
  /** What `npm sbom` prints about the whole checkout. */
  bill: { components: readonly Component[] }
  models: { id: string; nets: readonly Net[] }
}

export type Needed = ReadonlyMap<string, ReadonlySet<string>>

/** A package as `npm ls --json --long` prints it. What is optional and not there has no version. */
export interface Listed {
  name?: string
  version?: string
  dependencies?: Record<string, Listed>
}

/** A package that stands in the tree a second time has its dependencies at the first place only. */
export function readNeeded(tree: Listed, found = new Map<string, Set<string>>()): Map<string, Set<string>> {
  for (const listed of installedIn(tree)) {
    const needs = found.get(refOf(listed)) ?? new Set()
    found.set(refOf(listed), new Set([...needs, ...installedIn(listed).map(refOf)]))
    readNeeded(listed, found)
  }
  return found
}

const installedIn = ({ dependencies = {} }: Listed) => Object.values(dependencies).filter(({ version }) => version)
const refOf = ({ name, version }: Listed) => `${name}@${version}`

export interface Component {
  type: 'application' | 'library' | 'machine-learning-model'
  'bom-ref': string
  group?: string | undefined
  name: string
  version: string
  hashes?: { alg: 'SHA-256' | 'SHA-512'; content: string }[] | undefined
  licenses?: ({ license: { id: string } | { name: string } } | { expression: string })[] | undefined
  purl?: string
  properties?: { name: string; value: string }[]
}

export type Sbom = ReturnType<typeof makeSbom>

export function makeSbom(product: Product, { needed, bill, models }: Materials) {
  const described = new Map(bill.components.map((component) => [component['bom-ref'], component]))
  const needs = [...needed[product.id]].sort(([a], [b]) => (a < b ? -1 : 1))
  const packages = needs.map(([ref]) => toPackage(described.get(ref), ref))
  const component = packages.find(({ purl }) => purl?.startsWith(`pkg:npm/${product.main.replace('@', '%40')}@`))
  if (!component) throw new Error(`npm ls does not list ${product.main}`)
  const main = component['bom-ref']
  const nets = product.id === 'page' ? models.nets.map((net) => modelOf(net, models.id)) : []
  const netRefs = nets.map((net) => net['bom-ref'])
  const dependencies = [
    ...needs.map(([ref, own]) => [ref, ref === main ? [...own, ...netRefs] : [...own]] as const),
    ...netRefs.map((ref) => [ref, []] as const),
  ]
  const content = {
    metadata: { component: { ...component, type: 'application' as const } },
    components: [...packages.filter((one) => one !== component), ...nets],
    dependencies: dependencies.map(([ref, own]) => ({ ref, dependsOn: own.toSorted() })),
    compositions: [{ aggregate: 'complete', assemblies: [main] }],
  }
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: serialOf(content), version: 1, ...content }
}

/** Without what changes with npm's version. The scope of a name is its group. */
function toPackage(described: Component | undefined, listed: string): Component {
  if (!described) throw new Error(`npm sbom does not list ${listed}`)
  const { type, 'bom-ref': ref, version, hashes, licenses, purl = '' } = described
  const [, group, name = ''] = /^pkg:npm\/(?:%40([^/]+)\/)?([^@]+)@/.exec(purl) ?? []
  if (group !== 'ostiary' && !hashes) throw new Error(`package-lock.json has no integrity for ${listed}`)
  return { type, 'bom-ref': ref, group: group && `@${group}`, name, version, hashes, licenses, purl }
}

/** A net is a file of the page: its pinned digest, and the package out of which it came. */
function modelOf({ id, sha256, licence, provenance }: Net, set: string): Component {
  return {
    type: 'machine-learning-model',
    'bom-ref': `model:${set}/${id}`,
    group: set,
    name: id,
    version: sha256.slice(0, 12),
    hashes: [{ alg: 'SHA-256', content: sha256 }],
    licenses: [{ license: { name: licence } }],
    properties: [
      { name: 'ostiary:source', value: purlOf(provenance.package, provenance.version) },
      { name: 'ostiary:source-file', value: provenance.file },
    ],
  }
}

/** A package URL: only the @ of a scope is escaped in names that npm allows. */
const purlOf = (name: string, version: string) => `pkg:npm/${name.replace(/^@/, '%40')}@${version}`

/** A UUID of version 8 (RFC 9562), whose bits are the application's own: here the SHA-256 of the content. */
function serialOf(content: unknown): string {
  const bytes = createHash('sha256').update(JSON.stringify(content)).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return `urn:uuid:${bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')}`
}
