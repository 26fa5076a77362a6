import { type ErrorDetail, RiskOverrides } from '@ostiary/contract'
import Value from 'typebox/value'
import { AppError } from '../platform/errors.ts'

/** Parses overrides from outside the HTTP interface, such as a file of the operator. Routes check with the same schema. */
export function parseOverrides(value: unknown): RiskOverrides {
  if (Value.Check(RiskOverrides, value)) return value
  const details = Value.Errors(RiskOverrides, value).flatMap((error): ErrorDetail[] => {
    const at = error.instancePath
    if (error.keyword === 'additionalProperties') {
      return error.params.additionalProperties.map((name) => ({ pointer: `${at}/${name}`, message: 'is not known' }))
    }
    // The schema that accepts nothing reports an unknown field a second time.
    return error.keyword === 'boolean' ? [] : [{ pointer: at === '' ? '/' : at, message: error.message }]
  })
  const list = details.map(({ pointer, message }) => `${pointer} ${message}`).join('; ')
  throw new AppError('invalid_request', 'VALIDATION_FAILED', `The risk policy is not valid: ${list}`, { details })
}

/**
 * The tenant's policy from the time when the session was created. Another release may have stored it. Parts that this release
 * does not understand are ignored, because the session must be able to end.
 */
export function storedOverrides(stored: object): RiskOverrides {
  // Most tenants have no overrides, and validating an empty object takes as long as the rest of the evaluation.
  if (Object.keys(stored).length === 0) return stored
  try {
    return parseOverrides(stored)
  } catch {
    return {}
  }
}
