/** Declarations of a workspace, as the compiler writes them. */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { type Node, walk } from '../tidy/ast.ts'
import { ROOT } from './root.ts'

/** Text by the path of the source, such as `packages/sdk/src/http.ts`. */
export type Declarations = ReadonlyMap<string, string>

/** The declarations of these sources and of all that they import from the same workspace. */
export function declare(sources: readonly string[]): Declarations {
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
    return new Map(
      written.map((path) => [path.replace(/\.d\.ts$/, '.ts'), readFileSync(join(folder, 'out', path), 'utf8')]),
    )
  } catch (error) {
    const { stdout } = error as { stdout?: Buffer }
    throw new Error(`The declarations could not be made:\n${stdout?.toString() ?? error}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const parseDeclarations = (text: string, path: string) =>
  parseAst(text, { lang: 'dts' }, path) as unknown as Node & { body: Node[] }

/** One place in a file that names another module, and which names it takes from there. */
export interface Reference {
  specifier: string
  /** Of the text between the quotes. */
  start: number
  end: number
  names: string[]
}

/** Every module that a file of declarations names: by import, by export and inside of types. */
export function referencesOf(text: string, path: string): Reference[] {
  const found: Reference[] = []
  for (const node of walk(parseDeclarations(text, path))) {
    const literal = (node.type === 'TSImportType' ? node.source : node.source) as (Node & { value: string }) | null
    if (!literal || !/^(Import|Export|TSImportType)/.test(node.type)) continue
    const place = { specifier: literal.value, start: literal.start + 1, end: literal.end - 1 }
    found.push({ ...place, names: namesOf(node, path) })
  }
  return found
}

function namesOf(node: Node, path: string): string[] {
  const nameOf = (identifier: unknown) => (identifier as { name: string }).name
  if (node.type === 'TSImportType') {
    const qualifier = node.qualifier as Node | null
    if (qualifier?.type !== 'Identifier') throw new Error(`${path} imports a type in a way that is not known here`)
    return [nameOf(qualifier)]
  }
  if (node.type === 'ExportAllDeclaration') return ['*']
  return ((node.specifiers ?? []) as Node[]).map((specifier) => {
    if (specifier.type === 'ImportSpecifier') return nameOf(specifier.imported)
    if (specifier.type === 'ExportSpecifier') return nameOf(specifier.local)
    return '*'
  })
}

/** The text with every module renamed. */
export function renameModules(text: string, path: string, rename: (specifier: string) => string): string {
  return referencesOf(text, path)
    .toSorted((a, b) => b.start - a.start)
    .reduce((done, { specifier, start, end }) => done.slice(0, start) + rename(specifier) + done.slice(end), text)
}

/** The path of a module that stands in the same workspace. */
export const resolvePath = (from: string, specifier: string) => join(dirname(from), specifier)
