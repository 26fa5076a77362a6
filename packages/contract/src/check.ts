import type { TSchema } from 'typebox'
import Value from 'typebox/value'

/** What is wrong with a value, by place; empty when it has the form of the schema. For tests of what others write by hand. */
export function faultsOf(schema: TSchema, value: unknown): string[] {
  return [...Value.Errors(schema, value)].map(({ instancePath, message }) => `${instancePath} ${message}`)
}
