import type { ErrorDetail } from '@ostiary/contract'
import type { FastifySchemaCompiler } from 'fastify'
import type { Static, TProperties, TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { AppError } from './errors.ts'
import { nearestName } from './nearest-name.ts'

const MAX_DETAILS = 20
const UNKNOWN_FIELD = 'is not a known field'

/**
 * Validates each part of a request: bodies as they are; query strings and path parameters are text and are
 * converted first. Nothing is removed or filled in silently.
 */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const check = Compile(schema)
  const place = { body: '/body', querystring: '/query', params: '/path', headers: '/headers' }[httpPart ?? ''] ?? ''
  const isText = httpPart !== 'body'
  return (data: unknown) => {
    if (data === undefined || data === null) return { error: missingBody(place) }
    if (check.Check(data)) return { value: data }
    // Text that does not fit may be a number or a boolean.
    const value = isText ? readTexts(schema, data as Record<string, unknown>) : data
    if (isText && check.Check(value)) return { value }
    return { error: validationFailed(detailsOf(place, check.Errors(value), { schema, value })) }
  }
}

/** Query strings are text: numbers and booleans in their usual form are converted, anything else stays text and fails. */
function readTexts(schema: TSchema, data: Record<string, unknown>): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> }
  // Without a prototype, so that a parameter called `__proto__` is an ordinary parameter.
  const read: Record<string, unknown> = Object.create(null)
  for (const [name, text] of Object.entries(data)) {
    const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined
    const isNumber =
      (type === 'integer' || type === 'number') && typeof text === 'string' && /^-?\d+(\.\d+)?$/.test(text)
    if (isNumber) read[name] = Number(text)
    else if (type === 'boolean' && (text === 'true' || text === 'false')) read[name] = text === 'true'
    else read[name] = text
  }
  return read
}

/** Validates an object that the body's own schema leaves open. The refusal names each wrong place and what is allowed there. */
export function readPart<T extends TSchema>(
  check: Validator<TProperties, T>,
  value: unknown,
  pointer: string,
): Static<T> {
  if (check.Check(value)) return value as Static<T>
  const { properties = {} } = check.Type() as TSchema & { properties?: object }
  const known = Object.keys(properties).join(', ')
  const details = detailsOf(pointer, check.Errors(value), { schema: check.Type(), value })
  throw validationFailed(
    details.map((detail) =>
      detail.message === UNKNOWN_FIELD ? { ...detail, message: `is not one of ${known}` } : detail,
    ),
  )
}

/** What was checked against what. */
interface Checked {
  schema: unknown
  value: unknown
}

/** A misspelt name comes first: that a field is missing often follows from it. */
function detailsOf(place: string, errors: readonly TLocalizedValidationError[], checked: Checked): ErrorDetail[] {
  const misspelt = errors.flatMap((error) => misspeltIn(place, error, checked))
  const pointers = new Set(misspelt.map(({ pointer }) => pointer))
  const others = errors.flatMap((error) => describe(place, error, errors))
  return [...misspelt, ...others.filter(({ pointer }) => !pointers.has(pointer))].slice(0, MAX_DETAILS)
}

/** The unknown fields that resemble one which may stand there and does not. */
function misspeltIn(place: string, error: TLocalizedValidationError, { schema, value }: Checked): ErrorDetail[] {
  if (error.keyword !== 'additionalProperties') return []
  const { properties = {} } = Object(at(schema, error.schemaPath.slice(1)))
  const present = Object(at(value, error.instancePath))
  const missing = Object.entries<{ deprecated?: boolean }>(properties)
    .filter(([name, { deprecated }]) => !deprecated && !Object.hasOwn(present, name))
    .map(([name]) => name)
  return error.params.additionalProperties.slice(0, MAX_DETAILS).flatMap((name) => {
    const meant = nearestName(name, missing)
    if (meant === undefined) return []
    const pointer = `${place + error.instancePath}/${escapePointer(name)}`
    return [{ pointer, message: `is not a field: did you mean ${meant}?` }]
  })
}

/** The part of a value that a JSON pointer names, or undefined. */
function at(value: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1)
  return names.reduce<unknown>((part, name) => {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~')
    return Object.hasOwn(Object(part), key) ? Object(part)[key] : undefined
  }, value)
}

function validationFailed(details: readonly ErrorDetail[]): AppError {
  const [first] = details
  const message = first ? `The request is not valid: ${first.pointer} ${first.message}` : 'The request is not valid'
  return new AppError('invalid_request', 'VALIDATION_FAILED', message, { details })
}

function missingBody(place: string): AppError {
  return validationFailed([{ pointer: place, message: 'is required' }])
}

/** One sentence per place. The wrong value itself is never repeated. */
function describe(
  place: string,
  error: TLocalizedValidationError,
  all: readonly TLocalizedValidationError[],
): ErrorDetail[] {
  const pointer = place + error.instancePath
  switch (error.keyword) {
    case 'required':
      return error.params.requiredProperties.map((name) => ({
        pointer: `${pointer}/${escapePointer(name)}`,
        message: 'is required',
      }))
    case 'additionalProperties':
      return error.params.additionalProperties.map((name) => ({
        pointer: `${pointer}/${escapePointer(name)}`,
        message: UNKNOWN_FIELD,
      }))
    case 'boolean':
    case 'const':
      // The errors of `additionalProperties` and `anyOf` are clearer.
      return []
    case 'enum':
      return [{ pointer, message: oneOf(error.params.allowedValues) }]
    case 'anyOf': {
      const constants = all.flatMap((other) =>
        other.keyword === 'const' && other.instancePath === error.instancePath ? [other.params.allowedValue] : [],
      )
      return [{ pointer, message: constants.length > 0 ? oneOf(constants) : 'has none of the allowed values' }]
    }
    case 'format':
      return [{ pointer, message: FORMAT_MESSAGES[error.params.format] ?? error.message }]
    default:
      return [{ pointer, message: error.message }]
  }
}

const FORMAT_MESSAGES: Readonly<Record<string, string>> = {
  'date-time': 'must be a time such as 2026-11-16T10:00:00Z',
}
const MAX_NAMED = 20

/** Lists the allowed values; of a very long list only the beginning. */
export function oneOf(values: readonly unknown[]): string {
  const names = values.slice(0, MAX_NAMED).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  const more = values.length > MAX_NAMED ? ` and ${values.length - MAX_NAMED} others` : ''
  return `must be one of ${names.join(', ')}${more}`
}

function escapePointer(name: string): string {
  return name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')
}
