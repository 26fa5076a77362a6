/**
 * `npm run release -- sbom | verify | prepare [--image REFERENCE]`. docs/releasing.md says when.
 *
 *   sbom     writes .reports/sbom/{server,page,sdk}.cdx.json
 *   verify   that, and builds the launch page twice, in two folders: both must have one digest
 *   prepare  that, for a release: refuses base images without a digest, makes the packages, and writes .reports/release/SHA256SUMS, which is to be signed
 */
import { execFileSync, type StdioOptions } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '@ostiary/testkit/root'
import { isPinned, listBaseImages, unpinnedImages } from './images.ts'
import { buildPage, DIST } from './page.ts'
import { type Materials, makeSbom, type Needed, PRODUCTS, type Product, readNeeded } from './sbom.ts'

const REPORTS = join(ROOT, '.reports')
const RELEASE = join(REPORTS, 'release')
const ARCHIVES = ['ostiary-sdk.tgz', 'ostiary-cli.tgz'] as const
/** Two builds that differ in everything that must not matter: path, its length, time zone, language. */
const BUILDS = [
  { folder: 'a', env: { TZ: 'UTC', LC_ALL: 'C' } },
  { folder: 'another/folder with a longer name', env: { TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8' } },
] as const

/** What `verify` found, for its test: .reports/release/verified.json. */
export interface Verified {
  lockfile: string
  builds: { folder: string; digest: string }[]
  sboms: Record<string, string>
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')

/** What the bills of materials are made of, in this checkout. */
export function readMaterials(): Materials {
  const neededBy = ({ id, workspaces }: Product): [string, Needed] => {
    const chosen = workspaces.map((workspace) => `--workspace=${workspace}`)
    return [id, readNeeded(npm('ls', '--all', '--long', '--json', '--omit=dev', ...chosen))]
  }
  return {
    needed: Object.fromEntries(PRODUCTS.map(neededBy)) as Materials['needed'],
    bill: npm('sbom', '--sbom-format=cyclonedx'),
    models: JSON.parse(read('.models/manifest.json')),
  }
}

/** What npm prints as JSON about package-lock.json. */
function npm(...command: string[]) {
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore']
  const options = { cwd: ROOT, encoding: 'utf8' as const, maxBuffer: 1e9, stdio }
  return JSON.parse(execFileSync('npm', [...command, '--package-lock-only'], options))
}

/** Returns the SHA-256 of each document by its path in .reports. */
function writeSboms(materials: Materials): Record<string, string> {
  mkdirSync(join(REPORTS, 'sbom'), { recursive: true })
  return Object.fromEntries(
    PRODUCTS.map((product) => {
      const sbom = makeSbom(product, materials)
      const path = `sbom/${product.id}.cdx.json`
      const text = `${JSON.stringify(sbom, null, 2)}\n`
      writeFileSync(join(REPORTS, path), text)
      console.log(`release      .reports/${path}: ${sbom.components.length} components`)
      return [path, sha256(text)]
    }),
  )
}

/** Returns the digest of the page. */
function verify(): string {
  rmSync(RELEASE, { recursive: true, force: true })
  mkdirSync(RELEASE, { recursive: true })
  const sboms = writeSboms(readMaterials())
  const work = mkdtempSync(join(tmpdir(), 'ostiary-release-'))
  try {
    const builds = BUILDS.map(({ folder, env }) => {
      const digest = buildPage({ root: ROOT, folder: join(work, folder), env })
      console.log(`release      the page, built in "${folder}": ${digest}`)
      return { folder, digest }
    })
    copyFileSync(join(work, BUILDS[0].folder, DIST, 'sha256sums.txt'), join(RELEASE, 'page-sha256sums.txt'))
    const verified: Verified = { lockfile: sha256(read('package-lock.json')), builds, sboms }
    writeFileSync(join(RELEASE, 'verified.json'), `${JSON.stringify(verified, null, 2)}\n`)
    const [digest = '', ...others] = new Set(builds.map((build) => build.digest))
    if (others.length > 0) throw new Error('Two builds of the page have two digests: it is not reproducible')
    return digest
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function prepare(image: string | undefined): void {
  const bases = listBaseImages({ dockerfile: read('deploy/Dockerfile'), compose: read('compose.yaml') })
  const problems = unpinnedImages(bases)
  if (image !== undefined && !isPinned(image)) problems.push(`--image is ${image}, without a digest`)
  if (problems.length > 0) throw new Error(`This is no release:\n  ${problems.join('\n  ')}`)
  const digest = verify()
  const images = [
    ...bases.map(({ argument, reference }) => `${argument}=${reference}`),
    ...(image ? [`IMAGE=${image}`] : []),
  ]
  writeFileSync(join(RELEASE, 'images.txt'), `${images.join('\n')}\n`)
  for (const { id } of PRODUCTS) copyFileSync(join(REPORTS, `sbom/${id}.cdx.json`), join(RELEASE, `${id}.cdx.json`))
  execFileSync(process.execPath, [join(ROOT, 'tools/packages/main.ts')], { stdio: 'inherit' })
  for (const archive of ARCHIVES) copyFileSync(join(ROOT, '.packages', archive), join(RELEASE, archive))
  const files = ['images.txt', 'page-sha256sums.txt', ...PRODUCTS.map(({ id }) => `${id}.cdx.json`), ...ARCHIVES].sort()
  const sums = files.map((file) => `${sha256(readFileSync(join(RELEASE, file)))}  ${file}\n`)
  writeFileSync(join(RELEASE, 'SHA256SUMS'), sums.join(''))
  console.log(`release      page digest ${digest}. Now sign .reports/release/SHA256SUMS (docs/releasing.md)`)
}

if (import.meta.main) {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { image: { type: 'string' } } })
  try {
    switch (positionals.join(' ')) {
      case 'sbom':
        writeSboms(readMaterials())
        break
      case 'verify':
        verify()
        break
      case 'prepare':
        prepare(values.image)
        break
      default:
        throw new Error('sbom, verify or prepare?')
    }
  } catch (error) {
    console.error(`release: ${(error as Error).message}`)
    process.exitCode = 1
  }
}
