/** Bundles an entry of a workspace with all that it imports. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type OutputChunk, type OutputOptions, type Plugin, rolldown } from 'rolldown'
import { parseAst } from 'rolldown/parseAst'
import { childrenOf, type Node } from '../tidy/ast.ts'
import { ROOT } from './root.ts'

export interface BundleOptions {
  /** Paths in the checkout by the name of the entry. */
  entries: Readonly<Record<string, string>>
  platform: 'neutral' | 'node'
  plugins?: Plugin[]
}

export interface Bundle {
  write(options: OutputOptions): Promise<OutputChunk[]>
  close(): Promise<void>
}

/** The modules of the contract make constants and nothing else. Said so, what is not used goes, and the validator with it. */
const OURS = /\/packages\/(contract|crypto|device|token)\/src\//

export async function openBundle({ entries, platform, plugins = [] }: BundleOptions): Promise<Bundle> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(ROOT, path)])),
    platform,
    resolve: { conditionNames: platform === 'node' ? ['node', 'import', 'default'] : ['import', 'default'] },
    treeshake: { moduleSideEffects: [{ test: /\/node_modules\/typebox\//, sideEffects: false }] },
    plugins: [...plugins, pureConstants],
    onLog(level, log) {
      if (level === 'warn') throw new Error(log.message)
    },
  })
  return {
    async write(options) {
      const { output } = await bundle.generate({ comments: false, ...options })
      return output.filter((file) => file.type === 'chunk')
    },
    close: () => bundle.close(),
  }
}

/** Marks each constant whose value takes a call to compute as one that may go when nobody reads it. */
const pureConstants: Plugin = {
  name: 'pure-constants',
  transform: {
    filter: { id: OURS },
    handler: (code, id) => ({ code: markConstants(code, id), moduleType: 'ts' }),
  },
}

export function markConstants(code: string, id: string): string {
  const { body } = parseAst(code, { lang: 'ts' }, id) as unknown as { body: Node[] }
  const computed = body
    .map((statement) =>
      statement.type === 'ExportNamedDeclaration' ? (statement.declaration as Node | null) : statement,
    )
    .filter((statement) => statement?.type === 'VariableDeclaration')
    .flatMap((statement) => (statement?.declarations ?? []) as Node[])
    .map(({ init }) => init as Node | null)
    .filter((init) => init !== null && isComputed(init) && !waits(init))
  return computed.reduceRight(
    (text, init) =>
      init === null
        ? text
        : `${text.slice(0, init.start)}/* @__PURE__ */ (() => (${text.slice(init.start, init.end)}))()${text.slice(init.end)}`,
    code,
  )
}

/** Whether a call, or a read that might be one, happens when the module is loaded: not inside a function. */
function isComputed(node: Node): boolean {
  if (/Function/.test(node.type)) return false
  if (/^(CallExpression|NewExpression|SpreadElement|MemberExpression|TaggedTemplateExpression)$/.test(node.type))
    return true
  return childrenOf(node).some(isComputed)
}

const waits = (node: Node): boolean =>
  !/Function/.test(node.type) && (node.type === 'AwaitExpression' || childrenOf(node).some(waits))

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
