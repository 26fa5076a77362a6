/** The declarations of the packed SDK: its own, and one file each for what it takes from the contract and from the crypto package. */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import * as contract from '@ostiary/contract'
import { flattenTypes } from './flat-types.ts'
import { ROOT } from './root.ts'

const SDK = 'packages/sdk/src'
/** The packages whose types come along, each as one file. */
const COME_ALONG = [
  { name: '@ostiary/contract', folder: 'packages/contract/src', file: 'contract', values: contract },
  { name: '@ostiary/crypto', folder: 'packages/crypto/src', file: 'crypto', values: {} },
] as const

/** How the compiler names another module: names in braces, all of them, or one inside of a type. */
const REFERENCE = /^(?:import|export) (?:type )?(?:\{([^}]*)\}|\*) from '([^']+)'|\bimport\("([^"]+)"\)\.(\w+)/gm

/** Texts by path without an ending, such as `embed/index`. Modules are named with the ending `.ts`: `asFormat` changes it. */
export function declareSdk(entries: readonly string[]): ReadonlyMap<string, string> {
  const own = [...declare(entries)]
  const texts = new Map(
    own.map(([path, text]) => {
      const name = relative(SDK, path).replace(/\.d\.ts$/, '')
      return [name, renameModules(text, (specifier) => renamed(specifier, name))]
    }),
  )
  for (const { name, folder, file, values } of COME_ALONG) {
    const wanted = new Set(own.flatMap(([, text]) => namesFrom(text, name)))
    if (texts.has(`types/${file}`)) throw new Error(`The SDK has a module types/${file} of its own`)
    if (wanted.size === 0) continue
    const modules = [...declare([`${folder}/index.ts`]).values()]
    texts.set(`types/${file}`, flattenTypes({ modules, values, wanted }))
  }
  return texts
}

/**
 * Texts by path: the declarations of these sources and of all that they import from the same workspace. One workspace at a time: what is
 * a source and a package that another one imports is written or not, by chance.
 */
function declare(sources: readonly string[]): Map<string, string> {
  // Inside the checkout, because the compiler looks for packages from there upwards.
  mkdirSync(join(ROOT, '.packages'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.packages/declarations-'))
  try {
    const settings = {
      extends: join(ROOT, 'tsconfig.portable.json'),
      compilerOptions: {
        incremental: false,
        noEmit: false,
        declaration: true,
        emitDeclarationOnly: true,
        rootDir: ROOT,
        outDir: join(folder, 'out'),
      },
      include: [],
      files: sources.map((source) => join(ROOT, source)),
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder], { stdio: 'pipe' })
    const written = globSync('**/*.d.ts', { cwd: join(folder, 'out') }).sort()
    return new Map(written.map((path) => [path, readFileSync(join(folder, 'out', path), 'utf8')]))
  } catch (error) {
    const { stdout } = error as { stdout?: Buffer }
    throw new Error(`The declarations could not be made:\n${stdout?.toString() ?? error}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function namesFrom(text: string, packageName: string): string[] {
  return [...text.matchAll(REFERENCE)].flatMap(([, names = '*', module = '', typeModule = '', typeName]) => {
    const specifier = module || typeModule
    if (specifier !== packageName && !specifier.startsWith(`${packageName}/`)) return []
    const listed = (typeName ?? names).split(',').map((name) => name.replace(/^\s*(?:type )?| as .*$|\s+$/g, ''))
    return listed.filter((name) => name !== '')
  })
}

function renameModules(text: string, rename: (specifier: string) => string): string {
  return text.replaceAll(REFERENCE, (found, _names, module: string | undefined, typeModule = '') => {
    const specifier = module ?? typeModule
    return found.replace(specifier, rename(specifier))
  })
}

function renamed(specifier: string, from: string): string {
  const comesAlong = COME_ALONG.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`))
  if (comesAlong) return `./${relative(dirname(from), `types/${comesAlong.file}.ts`)}`.replace('./..', '..')
  if (!specifier.startsWith('.')) throw new Error(`${from} names ${specifier}, which the packed SDK does not have`)
  return specifier
}

/** The same declarations for modules of one format. */
export function asFormat(declarations: ReadonlyMap<string, string>, extension: 'js' | 'cjs'): Record<string, string> {
  const ending = extension === 'js' ? '.d.ts' : '.d.cts'
  return Object.fromEntries(
    [...declarations].map(([name, text]) => [
      `${name}${ending}`,
      renameModules(text, (specifier) => specifier.replace(/\.ts$/, `.${extension}`)),
    ]),
  )
}
