/**
 * Collects from a package's declarations the types that the SDK shows, and all that these need, in one file. The static type of a schema is printed
 * from the schema, so that the file needs no validator.
 */
import { isSchema, printNamedType, printType, type Schema } from './schema-types.ts'

/** One statement of a file of declarations, without `export` and `declare`. */
interface Declared {
  name: string
  isValue: boolean
  text: string
  comment: string
}

export interface FlatOptions {
  /** Every module of the package, as the compiler declares it. */
  modules: readonly string[]
  /** What the package exports at run time: its schemas are among it. */
  values: Readonly<Record<string, unknown>>
  wanted: Iterable<string>
}

export function flattenTypes({ modules, values, wanted }: FlatOptions): string {
  const declared = Map.groupBy(modules.flatMap(readModule), ({ name }) => name)
  const schemas = indexSchemas(declared, values)
  const done = new Map<string, string>()
  const waiting = [...wanted]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (done.has(name)) continue
    const text = print(find(declared, name), schemas, values)
    done.set(name, text)
    waiting.push(...namesIn(text).filter((other) => declared.has(other)))
  }
  const sorted = [...done].sort(([a], [b]) => (a < b ? -1 : 1))
  return `${sorted.map(([, text]) => text).join('\n\n')}\n`
}

/** The compiler begins each statement on a line of its own, without a space before it, and a comment stands right before its statement. */
const STATEMENT =
  /^(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?(?:export )?(?:declare )?((type|interface|class|function|const) (\w+)[\s\S]*?)\n(?=\/\*\*|export |declare |import |type |interface |const |(?![\s\S]))/gm

function readModule(text: string): Declared[] {
  return [...text.matchAll(STATEMENT)].map(([, comment = '', own = '', kind = '', name = '']) => ({
    name,
    isValue: kind !== 'type' && kind !== 'interface',
    text: own,
    comment,
  }))
}

/** The type of that name; of a schema and its type, the schema stays behind. */
function find(declared: ReadonlyMap<string, readonly Declared[]>, name: string): Declared {
  const all = declared.get(name) ?? []
  const types = all.filter(({ isValue }) => !isValue)
  const [found, ...others] = types.length > 0 ? types : all
  if (!found || others.length > 0) throw new Error(`${all.length} declarations are called ${name}`)
  return found
}

/** Comments and texts name nothing. */
const namesIn = (text: string): string[] =>
  text.replaceAll(/\/\*\*(?:(?!\*\/)[\s\S])*\*\/|'[^'\n]*'|"[^"\n]*"/g, '').match(/\b[A-Z]\w*/g) ?? []

const STATIC = /\b(?:Type\.)?Static<typeof (\w+)>/g
/** `X` where the whole type is `Type.Static<typeof X>`. */
const schemaOf = ({ text }: Declared) => /^type \w+ = (?:Type\.)?Static<typeof (\w+)>;$/.exec(text)?.[1]

/** Schemas whose type has a name of its own, by what they say. */
function indexSchemas(declared: ReadonlyMap<string, readonly Declared[]>, values: Readonly<Record<string, unknown>>) {
  const index = new Map<string, string>()
  for (const [name, all] of declared) {
    const schema = isSchema(values[name]) ? JSON.stringify(values[name]) : ''
    // Small ones would be found where they are not meant: any text without a limit is one type.
    if (schema.includes('"properties"') && all.some((one) => schemaOf(one) === name)) index.set(schema, name)
  }
  return index
}

function print(one: Declared, schemas: ReadonlyMap<string, string>, values: Readonly<Record<string, unknown>>): string {
  const schema = values[schemaOf(one) ?? '']
  if (isSchema(schema)) {
    const nameOf = (part: Schema) => {
      const found = part === schema ? undefined : schemas.get(JSON.stringify(part))
      return found === one.name ? undefined : found
    }
    const text = printNamedType(one.name, schema, { nameOf })
    return text.startsWith('/**') ? text : one.comment + text
  }
  const names = listedNames(one, values)
  if (names) return `${one.comment}export type ${one.name} = ${printType({ enum: names }, { nameOf: () => undefined })}`
  return `${one.comment}export ${one.isValue ? 'declare ' : ''}${one.text.replaceAll(STATIC, '$1')}`
}

/** The keys of a table or the members of a list, where the type has these without the table or list. */
function listedNames({ text }: Declared, values: Readonly<Record<string, unknown>>): string[] | undefined {
  const [, table = '', list = ''] = /^type \w+ = (?:keyof typeof (\w+)|\(typeof (\w+)\)\[number\]);$/.exec(text) ?? []
  const names = table ? Object.keys(values[table] ?? {}) : values[list]
  return Array.isArray(names) && names.length > 0 ? names : undefined
}
