/** Makes the files of the command line's package: all commands but those that need the machine of an installation. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '@ostiary/contract/version'
import type { Plugin } from 'rolldown'
import { bundle, licencesOf, packagesIn } from './bundle.ts'
import { ROOT } from './root.ts'
import type { Files } from './archive.ts'

const ENTRY = 'apps/cli/src/main-package.ts'
const REGISTRY = /\/apps\/cli\/src\/commands\.ts$/
/** In the registry: a group that needs the machine, with the file that it loads. */
const MACHINE_GROUP = /group\(\s*'machine',\s*async \(\) =>\s*\(await import\('[^']+'\)\)\s*\.\w+,/g

export interface CliPackage {
  files: Files
  executable: string[]
  /** Code of others in it, by folder. */
  contains: string[]
  /** Every module in it. */
  modules: string[]
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

export async function makeCli(): Promise<CliPackage> {
  const output = {
    format: 'esm',
    entryFileNames: 'bin/[name].js',
    chunkFileNames: 'bin/[name]-[hash].js',
    minify: { compress: true, mangle: false, codegen: true },
  } as const
  const chunks = await bundle({
    entries: { ostiary: ENTRY },
    platform: 'node',
    plugins: [withoutMachine],
    outputs: [output],
  })
  const contains = packagesIn(chunks)
  return {
    contains,
    modules: chunks.flatMap((chunk) => Object.keys(chunk.modules)),
    executable: ['bin/ostiary.js'],
    files: {
      ...Object.fromEntries(chunks.map((chunk) => [chunk.fileName, `${chunk.code.trimEnd()}\n`])),
      'package.json': `${JSON.stringify(MANIFEST, null, 2)}\n`,
      'README.md': read('apps/cli/README.md'),
      LICENSE: read('LICENSE'),
      'LICENSES-OF-OTHERS.txt': licencesOf(contains),
    },
  }
}

/** Puts a note in the place of each command that needs the machine, and refuses a bundle that would still need the server. */
const withoutMachine: Plugin = {
  name: 'without-machine',
  transform: {
    filter: { id: REGISTRY },
    handler: (code) => ({
      code: code.replaceAll(
        MACHINE_GROUP,
        `group('machine', async () => (await import("./package-commands.ts")).machineCommands(),`,
      ),
      moduleType: 'ts',
    }),
  },
  resolveId(source, importer) {
    if (!/^@ostiary\/(server|key-holder)(\/|$)/.test(source)) return null
    throw new Error(
      `${importer} imports ${source}, which the package has not: its group in commands.ts needs the machine`,
    )
  },
}

const MANIFEST = {
  name: '@ostiary/cli',
  version: VERSION,
  description: 'The command line of Ostiary, for integrators',
  license: 'Apache-2.0',
  type: 'module',
  engines: { node: '>=22' },
  bin: { ostiary: './bin/ostiary.js' },
}
