/** Builds the launch page in a folder of its own, out of copies, as a stranger would who checks a release. */
import { execFileSync } from 'node:child_process'
import { constants, cpSync, lstatSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'

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
  /** Things that must not matter, such as the time zone. */
  env: Record<string, string>
}

/** Returns the digest that the build says it has, after computing it again from the files. */
export function buildPage({ root, folder, env }: BuildOptions): string {
  copyPage({ root, folder })
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

function copyPage({ root, folder }: Omit<BuildOptions, 'env'>): void {
  const list = ['ls', '--all', '--parseable', `--workspace=${PAGE}`]
  const printed = execFileSync('npm', list, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  // The first line is the checkout.
  for (const path of printed.trim().split('\n').slice(1)) {
    const isWorkspace = lstatSync(path).isSymbolicLink()
    const source = isWorkspace ? realpathSync(path) : path
    const target = join(folder, relative(root, source))
    // Packages inside a package have a line of their own. What an earlier build made is not a source.
    const leftOut = isWorkspace ? ['node_modules', 'dist'] : ['node_modules']
    const filter = (one: string) => one === source || !leftOut.includes(basename(one))
    cpSync(source, target, { recursive: true, mode: constants.COPYFILE_FICLONE, filter })
    if (!isWorkspace) continue
    const link = join(folder, relative(root, path))
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(target, link)
  }
  const { nets } = JSON.parse(readFileSync(join(root, '.models/manifest.json'), 'utf8')) as { nets: { file: string }[] }
  for (const path of [...OTHER_FILES, ...nets.map(({ file }) => `.models/${file}`)])
    cpSync(join(root, path), join(folder, path), { mode: constants.COPYFILE_FICLONE })
}
