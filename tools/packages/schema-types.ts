/** Prints a schema of the contract as a TypeScript type, so that the declarations of the SDK need no validator. */

/** The parts of JSON Schema that the contract uses. */
export interface Schema {
  type?: string | readonly string[]
  description?: string
  deprecated?: boolean
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  additionalProperties?: boolean | Schema
  patternProperties?: Readonly<Record<string, Schema>>
}

export interface PrintOptions {
  /** The name of a type that is printed elsewhere and has this schema, if there is one. */
  nameOf: (schema: Schema) => string | undefined
}

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && ('~kind' in value || '~unsafe' in value)

/** `export interface Name { … }`, or `export type Name = …` for what is not an object. */
export function printNamedType(name: string, schema: Schema, options: PrintOptions): string {
  const comment = printComment(schema, '')
  const type = printType(schema, options)
  return type.startsWith('{\n')
    ? `${comment}export interface ${name} ${type}`
    : `${comment}export type ${name} = ${type}`.replaceAll(/ +\n/g, '\n')
}

/** The type on one level of indentation: its first line is not indented. */
export function printType(schema: Schema, options: PrintOptions, indent = ''): string {
  const text = printKnown(schema, options, indent)
  if (text === undefined) throw new Error(`No TypeScript type is known for ${JSON.stringify(schema)}`)
  return text
}

const PLAIN: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
}

function printKnown(schema: Schema, options: PrintOptions, indent: string): string | undefined {
  if (schema.enum) return printUnion(schema.enum.map(printLiteral), indent)
  if ('const' in schema) return printLiteral(schema.const)
  if (schema.anyOf) return schema.anyOf.map((one) => printPart(one, options, indent)).join(' | ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => PLAIN[type]).join(' | ')
  if (schema.type === 'array') return printArray(schema, options, indent)
  if (schema.type === 'object') return printObject(schema, options, indent)
  if (typeof schema.type === 'string') return PLAIN[schema.type]
  return schema.type === undefined ? 'unknown' : undefined
}

/** On one line while it is short. */
function printUnion(types: readonly string[], indent: string): string {
  const line = types.join(' | ')
  return line.length <= 100 ? line : types.map((type) => `\n${indent}  | ${type}`).join('')
}

function printLiteral(value: unknown): string {
  return typeof value === 'string'
    ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    : JSON.stringify(value)
}

const printPart = (schema: Schema, options: PrintOptions, indent: string) =>
  options.nameOf(schema) ?? printType(schema, options, indent)

function printArray({ items }: Schema, options: PrintOptions, indent: string): string {
  const item = items ? printPart(items, options, indent) : 'unknown'
  return /^[\w$]+$/.test(item) ? `${item}[]` : `Array<${item}>`
}

function printObject(schema: Schema, options: PrintOptions, indent: string): string {
  const { properties = {}, required = [], additionalProperties, patternProperties } = schema
  const entries = Object.entries(properties)
  const values = Object.values(patternProperties ?? {})[0] ?? additionalProperties
  if (entries.length === 0) {
    // The static type of an object without properties is `{}`, unless the contract names another one.
    if (!patternProperties && !('~unsafe' in schema)) return '{}'
    return `Record<string, ${typeof values === 'object' ? printPart(values, options, indent) : 'unknown'}>`
  }
  const inner = `${indent}  `
  // The static type of a schema with known and unknown properties has the known ones alone; so has this. With names that a setting
  // lists one by one, all of them optional, `~unsafe` states the same type.
  const lines = entries.map(([name, property]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : printLiteral(name)
    const optional = required.includes(name) ? '' : '?'
    const type = printPart(property, options, inner)
    return `${printComment(property, inner)}${inner}${key}${optional}:${type.startsWith('\n') ? '' : ' '}${type}\n`
  })
  return `{\n${lines.join('')}${indent}}`
}

/** Editors show it. `*` and `/` side by side would end it. */
function printComment({ description, deprecated }: Schema, indent: string): string {
  const text = [deprecated ? '@deprecated' : undefined, description].filter((part) => part !== undefined)
  return text.length === 0 ? '' : `${indent}/** ${text.join(' ').replaceAll('*/', '* /')} */\n`
}
