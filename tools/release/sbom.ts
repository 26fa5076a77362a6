/**
 * Software bills of materials in CycloneDX 1.6, from package-lock.json, the installed packages and the manifest of the models. The same
 * inputs give the same bytes: no time, no machine, and the serial number is made of the content.
 */
import { createHash } from 'node:crypto'
import { type Lockfile, type Reached, reach } from './lockfile.ts'

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
  /** The licence in the installed package.json of a folder; undefined if the package is not installed on this platform. */
  licenceOf(path: string): string | undefined
  models: { id: string; nets: readonly Net[] }
}

export interface Component {
  type: 'application' | 'library' | 'machine-learning-model'
  'bom-ref': string
  group?: string
  name: string
  version: string
  hashes?: { alg: 'SHA-256' | 'SHA-512'; content: string }[]
  licenses?: Licence[]
  purl?: string
  properties?: { name: string; value: string }[]
}
type Licence = { license: { id: string } | { name: string } } | { expression: string }

export interface Sbom {
  bomFormat: 'CycloneDX'
  specVersion: '1.6'
  serialNumber: string
  version: 1
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
  compositions: { aggregate: 'complete'; assemblies: string[] }[]
}

export function makeSbom(product: Product, materials: Materials): Sbom {
  const reached = reach(materials.lockfile, product.workspaces)
  const [main, ...others] = sortMainFirst(reached, product)
  if (!main) throw new Error(`${product.id} has no workspace`)
  const models = product.hasModels ? materials.models.nets.map((net) => modelOf(net, materials.models.id)) : []
  const component = { ...packageOf(main.path, materials), type: 'application' as const }
  const components = [...others.map(({ path }) => packageOf(path, materials)), ...models]
  const refs = new Map(reached.map(({ path }) => [path, refOf(path, materials.lockfile)]))
  const dependencies = reached.map(({ path, needs }) => ({
    ref: refs.get(path) ?? '',
    dependsOn: [
      ...needs.map((need) => refs.get(need) ?? ''),
      ...(path === main.path ? models.map((model) => model['bom-ref']) : []),
    ].sort(),
  }))
  const content = {
    metadata: { component },
    components,
    dependencies: [...dependencies, ...models.map((model) => ({ ref: model['bom-ref'], dependsOn: [] }))],
    compositions: [{ aggregate: 'complete' as const, assemblies: [component['bom-ref']] }],
  }
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: serialOf(content), version: 1, ...content }
}

function sortMainFirst(reached: readonly Reached[], { workspaces: [main] }: Product): Reached[] {
  return [...reached.filter(({ path }) => path === main), ...reached.filter(({ path }) => path !== main)]
}

function packageOf(path: string, { lockfile, licenceOf }: Materials): Component {
  const { version = '', integrity } = lockfile[path] ?? {}
  const full = nameOf(path, lockfile)
  const [group, name] = full.startsWith('@') ? full.split('/') : [undefined, full]
  const isOurs = !path.includes('node_modules/')
  if (!isOurs && integrity === undefined) throw new Error(`package-lock.json has no integrity for ${path}`)
  const licence = licenceOf(path)
  return {
    type: 'library',
    'bom-ref': refOf(path, lockfile),
    ...(group !== undefined && { group }),
    name: name ?? full,
    version,
    ...(integrity !== undefined && { hashes: hashesOf(integrity) }),
    ...(licence !== undefined && { licenses: [toLicence(licence)] }),
    purl: purlOf(full, version),
  }
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

/** Two copies of a version in two folders are two components; their folder tells them apart. */
function refOf(path: string, lockfile: Lockfile): string {
  const purl = purlOf(nameOf(path, lockfile), lockfile[path]?.version ?? '')
  return path.lastIndexOf('node_modules/') > 0 ? `${purl}#${path}` : purl
}

function nameOf(path: string, lockfile: Lockfile): string {
  const at = path.lastIndexOf('node_modules/')
  return lockfile[path]?.name ?? path.slice(at < 0 ? 0 : at + 'node_modules/'.length)
}

/** A package URL: only the @ of a scope is escaped in names that npm allows. */
const purlOf = (name: string, version: string) => `pkg:npm/${name.replace(/^@/, '%40')}@${version}`

function hashesOf(integrity: string): NonNullable<Component['hashes']> {
  const [, sha512] = /(?:^|\s)sha512-([A-Za-z0-9+/=]+)/.exec(integrity) ?? []
  if (sha512 === undefined) throw new Error(`"${integrity}" has no SHA-512`)
  return [{ alg: 'SHA-512', content: Buffer.from(sha512, 'base64').toString('hex') }]
}

/** One SPDX identifier, or an expression of several. */
function toLicence(licence: string): Licence {
  return /^[A-Za-z0-9.+-]+$/.test(licence) ? { license: { id: licence } } : { expression: licence }
}

/** A UUID of version 8 (RFC 9562), whose bits are the application's own: here the SHA-256 of the content. */
function serialOf(content: unknown): string {
  const bytes = createHash('sha256').update(JSON.stringify(content)).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return `urn:uuid:${bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')}`
}
