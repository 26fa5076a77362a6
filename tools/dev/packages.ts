/** Checks whether the packages are made and up to date, and makes them. */
import { execFileSync } from 'node:child_process'
import { isUpToDate } from '@ostiary/testkit/launch-page'
import { ROOT } from '../packages/root.ts'

const SOURCES = [
  'packages/{contract,crypto,device,sdk,token}/src/**/*',
  '{packages/sdk,apps/cli}/{README.md,package.json}',
  'apps/cli/src/**/*',
  'tools/packages/*.ts',
  'LICENSE',
  'package-lock.json',
]
const BUILT = ['.packages/ostiary-sdk.tgz', '.packages/ostiary-cli.tgz']

/** Makes the packages, unless they are newer than every source. */
export function providePackages(say: (text: string) => void): void {
  if (isUpToDate({ root: ROOT, sources: SOURCES, built: BUILT })) return
  say('making the packages of SDK and command line')
  execFileSync(process.execPath, ['tools/packages/main.ts'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
}
