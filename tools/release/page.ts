/** Builds the launch page in a folder of its own, out of copies, as a stranger would who checks a release. */
import { execFileSync } from 'node:child_process'
import { constants, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Lockfile, reach } from './lockfile.ts'

const PAGE = 'apps/launch'
export const DIST = `${PAGE}/dist`
/** Besides the page's own workspaces and packages. */
const OTHER_FILES = ['package.json', 'tsconfig.json', '.models/manifest.json']

/** The digest of a built page, in its folder; docs/releasing.md shows this command. */
export const DIGEST_COMMAND =
  "find . -type f ! -name '*.gz' ! -name sha256sums.txt ! -name digest.txt -printf '%P\\n' | LC_ALL=C sort | xargs sha256sum | sha256sum"

export interface BuildOptions {
  root: string
  folder: string
  lockfile: Lockfile
  /** Things that must not matter, such as the time zone. */
  env: Record<string, string>
}

/** Returns the digest that the build says it has, after computing it again from the files. */
export function buildPage({ root, folder, lockfile, env }: BuildOptions): string {
  copyPage({ root, folder, lockfile })
  execFileSync(process.execPath, [join(folder, PAGE, 'build.ts'), '--uncompressed'], {
    cwd: join(folder, PAGE),
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const dist = join(folder, DIST)
  const [said = ''] = readFileSync(join(dist, 'digest.txt'), 'utf8').split(' ')
  const found = digestOf(dist)
  if (said !== found) throw new Error(`The build says ${said}, its files give ${found}`)
  return found
}

export function digestOf(dist: string): string {
  const [digest = ''] = execFileSync('/bin/sh', ['-c', DIGEST_COMMAND], { cwd: dist, encoding: 'utf8' }).split(' ')
  return digest
}

function copyPage({ root, folder, lockfile }: Omit<BuildOptions, 'env'>): void {
  const copy = (path: string) => {
    // Packages inside a package have their own place in the lockfile. What an earlier build made is not a source.
    const leftOut = isOurs(path) ? ['node_modules', 'dist'] : ['node_modules']
    const filter = (source: string) => !leftOut.includes(basename(source))
    const options = { recursive: true, mode: constants.COPYFILE_FICLONE, filter }
    cpSync(join(root, path), join(folder, path), options)
  }
  // What is optional is there for one platform only.
  const needed = reach(lockfile, [PAGE], { dev: true }).filter(({ path }) => existsSync(join(root, path)))
  for (const { path } of needed) copy(path)
  for (const path of OTHER_FILES) copy(path)
  for (const { path } of needed.filter(({ path }) => isOurs(path))) {
    const link = join(folder, 'node_modules', lockfile[path]?.name ?? '')
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(folder, path), link)
  }
  const { nets } = JSON.parse(readFileSync(join(root, '.models/manifest.json'), 'utf8')) as { nets: { file: string }[] }
  for (const { file } of nets) copy(`.models/${file}`)
}

const isOurs = (path: string) => !path.includes('node_modules/')
