import type Type from 'typebox'
import type { TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import Value from 'typebox/value'

export type Environment = Readonly<Record<string, string | undefined>>

interface Reading {
  env: Environment
  name: string
  schema: TSchema
  readFile: (path: string) => string
  problems: string[]
}

/** Reads settings from the environment, with their defaults. Adds to `problems` what is wrong with them. */
export function readSettings<T extends TObject>(
  settings: T,
  env: Environment,
  readFile: (path: string) => string,
  problems: string[],
): Type.Static<T> {
  const entries = Object.entries<TSchema>(settings.properties)
  const raw = Object.fromEntries(
    entries.map(([name, schema]) => [name, readSetting({ env, name, schema, readFile, problems })]),
  )
  const values = Value.Default(settings, Value.Convert(settings, dropUndefined(raw))) as Type.Static<T>
  for (const [name, schema] of entries) checkSetting(name, schema, values as Record<string, unknown>, problems)
  return values
}

export function isSecret(schema: TSchema): boolean {
  return (schema as { secret?: boolean }).secret === true
}

/** The value of a setting, from its variable or, for secrets, from the file that `NAME_FILE` names. Empty means unset. */
function readSetting({ env, name, schema, readFile, problems }: Reading): string | undefined {
  const value = env[name] || undefined
  const path = isSecret(schema) ? env[`${name}_FILE`] || undefined : undefined
  if (!path) return value
  if (value) {
    problems.push(`${name}: set either this or ${name}_FILE`)
    return undefined
  }
  try {
    return readFile(path).trim() || undefined
  } catch {
    problems.push(`${name}_FILE: the file cannot be read`)
    return undefined
  }
}

function checkSetting(name: string, schema: TSchema, values: Record<string, unknown>, problems: string[]): void {
  const value = values[name]
  if (value === undefined) return
  const check = Compile(schema)
  if (check.Check(value)) return
  const [error] = check.Errors(value)
  const hint =
    'anyOf' in schema
      ? `must be one of ${(schema.anyOf as { const: string }[]).map((option) => option.const).join(', ')}`
      : error?.message
  problems.push(`${name}: ${hint}`)
}

function dropUndefined(values: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/** Lists every wrong setting, so that an operator can correct all of them at once. Never quotes a value. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[], document: string) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}\nSee ${document}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}
