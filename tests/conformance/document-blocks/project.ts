import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isUpToDate } from '@ostiary/testkit/launch-page'
import { ROOT } from '@ostiary/testkit/run'
import { forThisMachine, type Program } from './programs.ts'

const ARCHIVE = '.packages/ostiary-sdk.tgz'
const MADE_FROM = [
  'packages/{contract,crypto,sdk}/{src/**/*,package.json}',
  'packages/sdk/README.md',
  'tools/packages/*.ts',
]

/** Unpacks the SDK as a customer gets it. The only place that decides which SDK the blocks have. */
function installSdk(folder: string): void {
  if (!isUpToDate({ root: ROOT, sources: MADE_FROM, built: [ARCHIVE] }))
    execFileSync(process.execPath, ['tools/packages/main.ts'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  mkdirSync(folder, { recursive: true })
  execFileSync('tar', ['-xzf', join(ROOT, ARCHIVE), '--strip-components=1', '-C', folder])
}

/** As a careful customer has it. `dom` is for what runs in browsers. */
const COMPILER_OPTIONS = {
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable'],
  types: ['node'],
  module: 'nodenext',
  moduleDetection: 'force',
  noEmit: true,
  strict: true,
  // Types of others may ask for settings that a customer does not have.
  skipLibCheck: true,
}

/** A customer's project in this folder: the SDK and what its documents import, none of our other packages, and the programs. */
export function createProject(folder: string, programs: readonly Program[], ports: ReadonlyMap<number, number>): void {
  installSdk(join(folder, 'node_modules/@ostiary/sdk'))
  for (const name of readdirSync(`${ROOT}node_modules`))
    if (name !== '@ostiary' && !name.startsWith('.'))
      symlinkSync(`${ROOT}node_modules/${name}`, join(folder, 'node_modules', name))
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  const typed = programs.filter(({ language }) => language === 'ts').map(({ file }) => file)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: typed }))
  for (const { file, text } of programs) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), forThisMachine(text, ports))
  }
}
