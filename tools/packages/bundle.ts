/** Bundles an entry of a workspace with all that it imports. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type OutputChunk, type OutputOptions, type Plugin, rolldown } from 'rolldown'
import { ROOT } from './root.ts'

export interface BundleOptions {
  /** Paths in the checkout by the name of the entry. */
  entries: Readonly<Record<string, string>>
  platform: 'neutral' | 'node'
  plugins?: Plugin[]
  outputs: readonly OutputOptions[]
}

/**
 * What computes the contract's constants. A constant that nobody reads goes, and the validator with the schemas. Never `Object` alone: the
 * calls of `Object.assign` would go too.
 */
const PURE = ['Type', 'Object.entries', 'Object.fromEntries', 'Object.keys', 'Object.values', 'Object.freeze']

export async function bundle({ entries, platform, plugins = [], outputs }: BundleOptions): Promise<OutputChunk[]> {
  const opened = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(ROOT, path)])),
    platform,
    resolve: { conditionNames: platform === 'node' ? ['node', 'import', 'default'] : ['import', 'default'] },
    treeshake: {
      moduleSideEffects: [{ test: /\/node_modules\/typebox\//, sideEffects: false }],
      propertyReadSideEffects: false,
      manualPureFunctions: PURE,
    },
    plugins,
    onLog(level, log) {
      if (level === 'warn') throw new Error(log.message)
    },
  })
  const made = []
  for (const output of outputs) made.push(...(await opened.generate({ comments: false, ...output })).output)
  await opened.close()
  return made.filter((file) => file.type === 'chunk')
}

/** The packages of others that are in a bundle, by the path of their folder. */
export function packagesIn(chunks: readonly OutputChunk[]): string[] {
  const modules = chunks.flatMap((chunk) => Object.entries(chunk.modules))
  const foreign = modules
    .filter(([, { renderedLength }]) => renderedLength > 0)
    .map(([id]) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0])
    .filter((folder) => folder !== undefined)
  return [...new Set(foreign.map((folder) => relative(ROOT, folder)))].sort()
}

/** The licences of the packages that are in a bundle: most ask for a copy with every copy of the code. */
export function licencesOf(folders: readonly string[]): string {
  const texts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
    const file = readdirSync(join(ROOT, folder)).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry))
    if (!file) throw new Error(`${folder} has no licence file`)
    return `${name} ${version} (${license})\n\n${readFileSync(join(ROOT, folder, file), 'utf8').trim()}\n`
  })
  return ['This package contains code of the packages below, under their licences.\n', ...texts].join('\n')
}
