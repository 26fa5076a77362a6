/** Makes the files of the SDK's package. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '@ostiary/contract/version'
import type { OutputChunk, OutputOptions } from 'rolldown'
import { bundle, licencesOf, packagesIn } from './bundle.ts'
import { withLines } from './lines.ts'
import { ROOT } from './root.ts'
import { asFormat, declareSdk } from './sdk-types.ts'
import type { Files } from './archive.ts'

const SDK = 'packages/sdk'
/** It runs in browsers, where every byte counts. */
const BROWSER_ENTRY = 'embed'

/** Functions and classes keep their names, which stand in stack traces. */
const MINIFY = { compress: true, mangle: { keepNames: true }, codegen: true } as const

const FORMATS = [
  ['esm', 'js'],
  ['cjs', 'cjs'],
] as const

interface Manifest {
  description: string
  license: string
  exports: Record<string, string>
}

export interface SdkPackage {
  files: Files
  /** Code of others in it, by folder. */
  contains: string[]
}

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** `.` → index, `./embed` → embed. */
const entryName = (subpath: string) => (subpath === '.' ? 'index' : subpath.slice(2))

export async function makeSdk(): Promise<SdkPackage> {
  const manifest = JSON.parse(read(`${SDK}/package.json`)) as Manifest
  const subpaths = Object.keys(manifest.exports)
  const sources = subpaths.map((subpath) => join(SDK, manifest.exports[subpath] ?? ''))
  const types = declareSdk(sources)
  const { chunks, code } = await makeCode(subpaths.map((subpath, at) => [entryName(subpath), sources[at] ?? '']))
  const contains = packagesIn(chunks)
  return {
    contains,
    files: {
      ...code,
      ...inFolder('types/esm', asFormat(types, 'js')),
      ...inFolder('types/cjs', asFormat(types, 'cjs')),
      'package.json': `${JSON.stringify(packedManifest(manifest), null, 2)}\n`,
      'README.md': read(`${SDK}/README.md`),
      LICENSE: read('LICENSE'),
      'LICENSES-OF-OTHERS.txt': licencesOf(contains),
    },
  }
}

async function makeCode(entries: [string, string][]): Promise<{ chunks: OutputChunk[]; code: Record<string, string> }> {
  const bundled = (isWanted: (name: string) => boolean, minify: NonNullable<OutputOptions['minify']>) =>
    bundle({
      entries: Object.fromEntries(entries.filter(([name]) => isWanted(name))),
      platform: 'neutral',
      outputs: FORMATS.map(([format, extension]) => ({
        format,
        exports: 'named',
        entryFileNames: `${format}/[name].${extension}`,
        chunkFileNames: `${format}/shared-[hash].${extension}`,
        minify,
      })),
    })
  const server = await bundled((name) => name !== BROWSER_ENTRY, MINIFY)
  const chunks = [...server, ...(await bundled((name) => name === BROWSER_ENTRY, true))]
  return {
    chunks,
    code: Object.fromEntries(chunks.map((chunk) => [chunk.fileName, `${withLines(chunk.code.trimEnd())}\n`])),
  }
}

const inFolder = (folder: string, files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]))

/** As npm and compilers read it. Two formats, so that `require()` works where Node cannot load modules by it. */
function packedManifest({ description, license, exports }: Manifest) {
  const typesOf = (subpath: string, folder: string, ending: string) =>
    `./types/${folder}/${(exports[subpath] ?? '').replace(/^\.\/src\//, '').replace(/\.ts$/, ending)}`
  const conditions = Object.keys(exports).map((subpath) => [
    subpath,
    {
      import: { types: typesOf(subpath, 'esm', '.d.ts'), default: `./esm/${entryName(subpath)}.js` },
      require: { types: typesOf(subpath, 'cjs', '.d.cts'), default: `./cjs/${entryName(subpath)}.cjs` },
    },
  ])
  const others = Object.keys(exports).filter((subpath) => subpath !== '.')
  return {
    name: '@ostiary/sdk',
    version: VERSION,
    description,
    license,
    type: 'module',
    engines: { node: '>=20.19' },
    sideEffects: false,
    main: './cjs/index.cjs',
    types: './types/cjs/index.d.cts',
    exports: { ...Object.fromEntries(conditions), './package.json': './package.json' },
    // For compilers that do not read `exports`.
    typesVersions: {
      '*': Object.fromEntries(others.map((subpath) => [entryName(subpath), [typesOf(subpath, 'cjs', '.d.cts')]])),
    },
  }
}
