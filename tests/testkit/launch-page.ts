/** Checks whether the launch page is built and up to date, and builds it. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './run.ts'

/** The sources of the page. */
const SOURCES = [
  'apps/launch/*.{ts,html,json}',
  'apps/launch/src/**/*',
  'packages/{contract,crypto,device,faces,token}/src/**/*',
  '.models/manifest.json',
  'package-lock.json',
]
/** Written at the end of a build. */
const BUILT = 'apps/launch/dist/service-worker.js'
const MANIFEST = 'apps/launch/dist/models/manifest.json'

/** Builds the page with its models, unless the build is newer than every source. */
export function provideLaunchPage(say: (text: string) => void): void {
  const isBuilt = isUpToDate({ root: ROOT, sources: SOURCES, built: [BUILT, MANIFEST] })
  if (isBuilt && existsSync(join(ROOT, '.models/manifest.json'))) return
  say('building the launch page')
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  run(process.execPath, 'models/main.ts')
  run(process.execPath, 'apps/launch/build.ts')
}

/** Builds the page that trusts these key holders, with its models, into a folder. */
export function buildPinnedPage(folder: string, fingerprints: readonly string[]): void {
  execFileSync(process.execPath, ['apps/launch/build.ts', '--out', folder, '--uncompressed'], {
    cwd: ROOT,
    env: { ...process.env, KEY_HOLDER_FINGERPRINT: fingerprints.join(',') },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** Whether the build is complete and no source changed since. Test files are not part of a build. */
export function isUpToDate({ root, sources, built }: { root: string; sources: string[]; built: string[] }): boolean {
  if (built.length === 0 || !built.every((path) => existsSync(join(root, path)))) return false
  const builtMs = Math.max(...built.map((path) => statSync(join(root, path)).mtimeMs))
  return globSync(sources, { cwd: root })
    .filter((path) => !/\.test\.tsx?$|[\\/]testing[\\/]/.test(path))
    .map((path) => statSync(join(root, path)))
    .every((source) => !source.isFile() || source.mtimeMs <= builtMs)
}
