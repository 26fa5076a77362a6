/**
 * Software bills of materials in CycloneDX 1.6: the packages as `npm sbom` describes them, and the manifest of the models. The same inputs give
 * the same bytes: no time, no machine, and the serial number is made of the content.
 *
 * Which packages belong to a product is read in the lockfile. `npm sbom --omit=dev --workspace=…` leaves out every package that another
 * workspace needs for development (npm 11.19: fastify, pg, typebox and 60 more of the server's).
 */
import { createHash } from 'node:crypto'
import { type Lockfile, reach } from './lockfile.ts'

export interface Product {
  /** Name of the document: `<id>.cdx.json`. */
  id: string
  /** The first one names the product. */
  workspaces: readonly string[]
  hasModels: boolean
}

/** What a release consists of. The image has the command line and the key holder too, and the page in its folder. */
export const PRODUCTS: readonly Product[] = [
  { id: 'server', workspaces: ['apps/server', 'apps/cli', 'apps/key-holder'], hasModels: false },
  { id: 'page', workspaces: ['apps/launch'], hasModels: true },
  { id: 'sdk', workspaces: ['packages/sdk'], hasModels: false },
]

/** A net of .models/manifest.json. */
export interface Net {
  id: string
  sha256: string
  licence: string
  provenance: { package: string; version: string; file: string }
}

export interface Materials {
  lockfile: Lockfile
  /** What `npm sbom` prints about the whole checkout. */
  bill: { components: readonly Component[] }
  models: { id: string; nets: readonly Net[] }
}

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

export function makeSbom({ id, workspaces, hasModels }: Product, { lockfile, bill, models }: Materials) {
  const reached = reach(lockfile, workspaces)
  const described = new Map(bill.components.map((component) => [component['bom-ref'], component]))
  const refOf = (path: string) => `${nameOf(path, lockfile)}@${lockfile[path]?.version}`
  const packages = new Map(reached.map(({ path }) => [refOf(path), toPackage(described.get(refOf(path)), path)]))
  const main = refOf(workspaces[0] ?? '')
  const component = packages.get(main)
  if (!component) throw new Error(`${id} has no workspace`)
  packages.delete(main)
  const nets = hasModels ? models.nets.map((net) => modelOf(net, models.id)) : []
  const dependencies = new Map([main, ...packages.keys()].map((ref) => [ref, new Set<string>()]))
  for (const { path, needs } of reached) for (const need of needs) dependencies.get(refOf(path))?.add(refOf(need))
  for (const net of nets) dependencies.set(net['bom-ref'], new Set())
  for (const net of nets) dependencies.get(main)?.add(net['bom-ref'])
  const content = {
    metadata: { component: { ...component, type: 'application' as const } },
    components: [...packages.values(), ...nets],
    dependencies: [...dependencies].map(([ref, needs]) => ({ ref, dependsOn: [...needs].sort() })),
    compositions: [{ aggregate: 'complete', assemblies: [main] }],
  }
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: serialOf(content), version: 1, ...content }
}

/** Without what changes with npm's version. The scope of a name is its group. */
function toPackage(described: Component | undefined, path: string): Component {
  if (!described) throw new Error(`npm sbom does not list ${path}`)
  const { type, 'bom-ref': ref, version, hashes, licenses, purl = '' } = described
  if (path.includes('node_modules/') && !hashes) throw new Error(`package-lock.json has no integrity for ${path}`)
  const [, group, name = ''] = /^pkg:npm\/(?:%40([^/]+)\/)?([^@]+)@/.exec(purl) ?? []
  return { type, 'bom-ref': ref, group: group && `@${group}`, name, version, hashes, licenses, purl }
}

function nameOf(path: string, lockfile: Lockfile): string {
  return lockfile[path]?.name ?? path.replace(/^.*node_modules\//, '')
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
