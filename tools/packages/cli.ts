/** Makes the files of the command line's package: all commands but those that need the machine of an installation. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '@ostiary/contract/version'
import type { Plugin } from 'rolldown'
import { licencesOf, openBundle, packagesIn } from './bundle.ts'
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
  const bundle = await openBundle({ entries: { ostiary: ENTRY }, platform: 'node', plugins: [withoutMachine] })
  const chunks = await bundle.write({
    format: 'esm',
    entryFileNames: 'bin/[name].js',
    chunkFileNames: 'bin/[name]-[hash].js',
    minify: { compress: true, mangle: false, codegen: true },
  })
  await bundle.close()
  const contains = packagesIn(chunks)
  return {
    contains,
    modules: chunks.flatMap((chunk) => Object.keys(chunk.modules)),
    executable: ['bin/ostiary.js'],
    files: {
      ...Object.fromEntries(chunks.map((chunk) => [chunk.fileName, `${chunk.code.trimEnd()}\n`])),
      'package.json': `${JSON.stringify(MANIFEST, null, 2)}\n`,
      'README.md': README,
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

const README = `# @ostiary/cli

The command line of Ostiary, for people who build on a service that runs elsewhere.

\`\`\`sh
npm install --save-dev https://ostiary.example/sdk/ostiary-cli.tgz   # your installation serves it
npx ostiary help
\`\`\`

Node 22 or newer; no dependencies. Commands take the address of the service and an API key by \`--url\` and \`--key\`, or from \`OSTIARY_URL\` and
\`OSTIARY_API_KEY\`.

Commands that need the secrets of the installation (\`migrate\`, \`doctor\`, \`tenants\`, \`keys\` and more) run on its machine only, and say so:
there it is \`npm run ostiary -- …\`, or \`ostiary …\` in its container.
`
