/**
 * Collects from a package's declarations the types that the SDK shows, and all that these need, in one file. The static type of a schema is printed
 * from the schema, so that the file needs no validator.
 */
import { type Node, walk } from '../tidy/ast.ts'
import { type Declarations, parseDeclarations, resolvePath } from './declarations.ts'
import { isSchema, printNamedType, printType, type Schema } from './schema-types.ts'

interface Declared {
  path: string
  name: string
  isValue: boolean
  node: Node
  /** With its comment, without `export` and `declare`. */
  text: string
  /** Where `text` begins in its file, without the comment. */
  start: number
  comment: string
}

interface Module {
  text: string
  declared: Declared[]
  /** Local name → module and its name there. */
  imported: Map<string, { specifier: string; name: string }>
  exportsAllOf: string[]
}

export interface FlatOptions {
  declarations: Declarations
  /** What the package exports at run time: its schemas are among it. */
  values: Readonly<Record<string, unknown>>
  /** What is wanted: names by the path of the module that exports them. */
  wanted: ReadonlyMap<string, ReadonlySet<string>>
}

export function flattenTypes({ declarations, values, wanted }: FlatOptions): string {
  const modules = new Map([...declarations].map(([path, text]) => [path, readModule(path, text)]))
  const schemas = indexSchemas(values, modules)
  const done = new Map<string, { declared: Declared; text: string }>()
  const queue: Declared[] = [...wanted].flatMap(([path, names]) =>
    [...names].flatMap((name) => required(exported(modules, path, name), name, path)),
  )
  for (let next = queue.pop(); next; next = queue.pop()) {
    const key = `${next.isValue ? 'value' : 'type'} ${next.name}`
    const known = done.get(key)
    if (known && known.declared !== next) throw new Error(`Two declarations are called ${next.name}`)
    // The SDK takes the type of a schema; the schema itself stays behind.
    if (known || (next.isValue && isSchema(values[next.name]))) continue
    const { text, needs } = print(next, { modules, schemas, values })
    done.set(key, { declared: next, text })
    queue.push(...needs)
  }
  const sorted = [...done.keys()].sort((a, b) => (nameIn(a) < nameIn(b) ? -1 : 1))
  return `${sorted.map((key) => done.get(key)?.text).join('\n\n')}\n`
}

const nameIn = (key: string) => key.slice(key.indexOf(' ') + 1)

function required(found: Declared[], name: string, path: string): Declared[] {
  if (found.length === 0) throw new Error(`${path} exports no ${name}`)
  return found
}

function readModule(path: string, text: string): Module {
  const module: Module = { text, declared: [], imported: new Map(), exportsAllOf: [] }
  let endOfLast = 0
  for (const statement of parseDeclarations(text, path).body) {
    const comment = /\/\*\*(?:(?!\*\/).)*\*\/\s*$/s.exec(text.slice(endOfLast, statement.start))?.[0] ?? ''
    endOfLast = statement.end
    const source = (statement.source as { value: string } | null | undefined)?.value
    if (statement.type === 'ExportAllDeclaration' && source) module.exportsAllOf.push(source)
    else if (source) readNames(statement, source, module)
    else readDeclaration(statement, { path, text, comment: comment.trim(), module })
  }
  return module
}

function readNames(statement: Node, specifier: string, { imported }: Module): void {
  for (const one of (statement.specifiers ?? []) as (Node & Record<string, { name: string }>)[]) {
    const local = statement.type === 'ImportDeclaration' ? one.local : one.exported
    const name = statement.type === 'ImportDeclaration' ? one.imported : one.local
    imported.set(local?.name ?? '', { specifier, name: name?.name ?? 'default' })
  }
}

function readDeclaration(
  statement: Node,
  { path, text, comment, module }: { path: string; text: string; comment: string; module: Module },
): void {
  const node = (statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement) as Node | null
  if (!node) return
  const isValue = !/^TS(TypeAlias|Interface)Declaration$/.test(node.type)
  const named = (isValue && node.type === 'VariableDeclaration' ? (node.declarations as Node[]) : [node]) as Node[]
  for (const one of named) {
    const { name } = (one.id ?? {}) as { name?: string }
    if (!name) continue
    const own = text.slice(node.start, node.end).replace(/^declare /, '')
    module.declared.push({ path, name, isValue, node, text: own, start: node.end - own.length, comment })
  }
}

/** What a module exports under a name: a value, a type, or both. */
function exported(modules: ReadonlyMap<string, Module>, path: string, name: string): Declared[] {
  const module = modules.get(path)
  if (!module) throw new Error(`There are no declarations of ${path}`)
  const own = inScope(modules, path, name)
  if (own.length > 0) return own
  return module.exportsAllOf.flatMap((specifier) => exported(modules, resolvePath(path, specifier), name))
}

/** What a name means inside a module. */
function inScope(modules: ReadonlyMap<string, Module>, path: string, name: string): Declared[] {
  const module = modules.get(path)
  const own = module?.declared.filter((one) => one.name === name) ?? []
  if (own.length > 0) return own
  const from = module?.imported.get(name)
  if (!from?.specifier.startsWith('.')) return []
  return exported(modules, resolvePath(path, from.specifier), from.name)
}

/** Schemas whose type has a name of its own, by what they say. */
function indexSchemas(values: Readonly<Record<string, unknown>>, modules: ReadonlyMap<string, Module>) {
  const index = new Map<string, string>()
  const declared = [...modules.values()].flatMap((module) => module.declared)
  for (const { name, isValue, node, text, start } of declared) {
    const schema = values[name]
    const isOwn = !isValue && isSchema(schema) && schemaOf(node, text, start) === name
    // Small ones would be found where they are not meant: any text without a limit is one type.
    if (isOwn && JSON.stringify(schema).includes('"properties"')) index.set(JSON.stringify(schema), name)
  }
  return index
}

/** `X` where the whole type is `Type.Static<typeof X>`. */
function schemaOf(node: Node, text: string, start: number): string | undefined {
  const type = node.typeAnnotation as Node | undefined
  if (node.type !== 'TSTypeAliasDeclaration' || !type) return undefined
  return /^(?:Type\.)?Static<typeof (\w+)>$/.exec(text.slice(type.start - start, type.end - start))?.[1]
}

interface PrintContext {
  modules: ReadonlyMap<string, Module>
  schemas: ReadonlyMap<string, string>
  values: Readonly<Record<string, unknown>>
}

function print(one: Declared, context: PrintContext): { text: string; needs: Declared[] } {
  const { modules, schemas, values } = context
  const name = one.isValue ? undefined : schemaOf(one.node, one.text, one.start)
  if (name === undefined) return printNames(one, values) ?? printDeclared(one, context)
  const schema = values[name]
  if (!isSchema(schema))
    throw new Error(`${one.path}: the schema ${name} is not exported, so the type ${one.name} cannot be printed`)
  const needed = new Set<string>()
  const nameOf = (part: Schema) => {
    const found = part === schema ? undefined : schemas.get(JSON.stringify(part))
    if (found && found !== one.name) needed.add(found)
    return found === one.name ? undefined : found
  }
  const text = printNamedType(one.name, schema, { nameOf })
  const all = [...modules.values()].flatMap((module) => module.declared)
  const needs = all.filter((other) => !other.isValue && needed.has(other.name))
  const isDescribed = text.startsWith('/**')
  return { text: one.comment && !isDescribed ? `${one.comment}\n${text}` : text, needs }
}

/** A type that lists the keys of a table, or the members of a list, without the table or list. */
function printNames(
  one: Declared,
  values: Readonly<Record<string, unknown>>,
): { text: string; needs: Declared[] } | undefined {
  const [, table = '', list = ''] =
    /^type \w+ = (?:keyof typeof (\w+)|\(typeof (\w+)\)\[number\]);?$/.exec(one.text) ?? []
  const names = table ? Object.keys(values[table] ?? {}) : values[list]
  if (!Array.isArray(names) || names.length === 0 || !names.every((name) => typeof name === 'string')) return undefined
  const text = `export type ${one.name} = ${printType({ enum: names }, { nameOf: () => undefined })}`
  return { text: one.comment ? `${one.comment}\n${text}` : text, needs: [] }
}

/** The declaration as it stands, with the declarations that it names. Static types inside of it become names of types. */
function printDeclared(one: Declared, { modules, values }: PrintContext): { text: string; needs: Declared[] } {
  const needs: Declared[] = []
  let text = one.text
  const statics: Node[] = []
  for (const node of walk(one.node)) {
    if (node.type === 'TSTypeReference' && /^(Type\.)?Static</.test(sliceOf(one, node))) statics.push(node)
    const name = referencedName(node)
    if (!name) continue
    const isTypeof = node.type === 'TSTypeQuery'
    if (isTypeof && isSchema(values[name]) && !statics.some(({ start, end }) => start <= node.start && node.end <= end))
      throw new Error(`${one.path}: the type ${one.name} needs the schema ${name} itself`)
    const found = inScope(modules, one.path, name)
    const isStatic = isTypeof && isSchema(values[name])
    needs.push(
      ...found.filter(({ isValue, node: other }) => (isTypeof && !isStatic ? isValue : !isValue || isClass(other))),
    )
  }
  for (const node of statics.toReversed()) {
    const name = /<typeof (\w+)>$/.exec(sliceOf(one, node))?.[1]
    if (!name) throw new Error(`${one.path}: ${one.name} has a static type that is not of a named schema`)
    text = text.slice(0, node.start - one.start) + name + text.slice(node.end - one.start)
  }
  const head = one.isValue ? 'export declare ' : 'export '
  return { text: `${one.comment ? `${one.comment}\n` : ''}${head}${text}`, needs }
}

const sliceOf = ({ text, start }: Declared, node: Node) => text.slice(node.start - start, node.end - start)
const isClass = (node: Node) => node.type === 'ClassDeclaration'

/** The name of the declaration that a node of a type refers to. */
function referencedName(node: Node): string | undefined {
  const target =
    (node.type === 'TSTypeReference' && node.typeName) ||
    (node.type === 'TSTypeQuery' && node.exprName) ||
    (/^TS(InterfaceHeritage|ClassImplements)$/.test(node.type) && node.expression)
  let identifier = target as (Node & { name?: string; left?: Node }) | false | undefined
  while (identifier && identifier.type === 'TSQualifiedName') identifier = identifier.left as typeof identifier
  return identifier ? identifier.name : undefined
}
