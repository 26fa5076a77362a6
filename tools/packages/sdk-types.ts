/** The declarations of the packed SDK: its own, and one file each for what it takes from the contract and from the crypto package. */
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import * as contract from '@ostiary/contract'
import { type Declarations, declare, referencesOf, renameModules } from './declarations.ts'
import { flattenTypes } from './flat-types.ts'
import { ROOT } from './root.ts'

const SDK = 'packages/sdk/src'
/** The packages whose types come along, each as one file. */
const COME_ALONG = [
  { name: '@ostiary/contract', folder: 'packages/contract', file: 'contract', values: contract },
  { name: '@ostiary/crypto', folder: 'packages/crypto', file: 'crypto', values: {} },
] as const

/** Texts by path without an ending, such as `embed/index`. Modules are named with the ending `.ts`: `asFormat` changes it. */
export function declareSdk(entries: readonly string[]): Declarations {
  const own = declare(entries)
  const flat = COME_ALONG.map(({ name, folder, file, values }) => {
    const wanted = wantedFrom(own, name, folder)
    const text = wanted.size === 0 ? '' : flattenTypes({ declarations: declare([...wanted.keys()]), values, wanted })
    return { name, file, text }
  })
  const texts = new Map<string, string>()
  for (const [path, text] of own) {
    const name = relative(SDK, path).replace(/\.ts$/, '')
    texts.set(
      name,
      renameModules(text, path, (specifier) => renamed(specifier, name)),
    )
  }
  for (const { file, text } of flat) {
    if (texts.has(`types/${file}`)) throw new Error(`The SDK has a module types/${file} of its own`)
    if (text !== '') texts.set(`types/${file}`, text)
  }
  return texts
}

function wantedFrom(own: Declarations, packageName: string, folder: string): Map<string, Set<string>> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
    exports: Record<string, string>
  }
  const wanted = new Map<string, Set<string>>()
  for (const [path, text] of own)
    for (const { specifier, names } of referencesOf(text, path)) {
      if (specifier !== packageName && !specifier.startsWith(`${packageName}/`)) continue
      const entry = exports[`.${specifier.slice(packageName.length)}`]
      if (!entry || names.includes('*')) throw new Error(`${path}: ${specifier} cannot be packed with all of its names`)
      const source = join(folder, entry)
      wanted.set(source, new Set([...(wanted.get(source) ?? []), ...names]))
    }
  return wanted
}

function renamed(specifier: string, from: string): string {
  const comesAlong = COME_ALONG.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`))
  if (comesAlong) return `./${relative(dirname(from), `types/${comesAlong.file}.ts`)}`.replace('./..', '..')
  if (!specifier.startsWith('.')) throw new Error(`${from} names ${specifier}, which the packed SDK does not have`)
  return specifier
}

/** The same declarations for modules of one format. */
export function asFormat(declarations: Declarations, extension: 'js' | 'cjs'): Record<string, string> {
  const ending = extension === 'js' ? '.d.ts' : '.d.cts'
  return Object.fromEntries(
    [...declarations].map(([name, text]) => [
      `${name}${ending}`,
      renameModules(text, name, (specifier) => specifier.replace(/\.ts$/, `.${extension}`)),
    ]),
  )
}
