import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from '@ostiary/testkit/run'
import { forThisMachine, type Program } from './programs.ts'

/** The SDK as the blocks get it: the only place that decides it. */
function sdkFolder(): string {
  return `${ROOT}packages/sdk`
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
  skipLibCheck: true,
  // While the SDK is its own source.
  allowImportingTsExtensions: true,
}

/** A customer's project in this folder: the SDK and what its documents import, none of our other packages, and the programs. */
export function createProject(folder: string, programs: readonly Program[], ports: ReadonlyMap<number, number>): void {
  mkdirSync(join(folder, 'node_modules/@ostiary'), { recursive: true })
  symlinkSync(sdkFolder(), join(folder, 'node_modules/@ostiary/sdk'))
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
