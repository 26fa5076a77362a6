import { type ErrorDetail, RiskOverrides } from '@ostiary/contract'
import Value from 'typebox/value'
import { AppError } from '../platform/errors.ts'

/** Overrides from outside the wire, such as a file of the operator. The wire's routes check with the same schema. */
export function parseOverrides(value: unknown): RiskOverrides {
  if (Value.Check(RiskOverrides, value)) return value
  const details = Value.Errors(RiskOverrides, value).flatMap((error): ErrorDetail[] => {
    const at = error.instancePath
    if (error.keyword === 'additionalProperties') {
      return error.params.additionalProperties.map((name) => ({ pointer: `${at}/${name}`, message: 'is not known' }))
    }
    // An unknown field is reported a second time by the schema that nothing fits.
    return error.keyword === 'boolean' ? [] : [{ pointer: at === '' ? '/' : at, message: error.message }]
  })
  const list = details.map(({ pointer, message }) => `${pointer} ${message}`).join('; ')
  throw new AppError('invalid_request', 'VALIDATION_FAILED', `The risk policy is not valid: ${list}`, { details })
}

/**
 * The tenant's policy as it was when the session was made. Another version of the service may have written it: what this one
 * does not understand is left out, for the session must end.
 */
export function storedOverrides(stored: object): RiskOverrides {
  // Most tenants have none, and a check of nothing takes as long as the rest of the evaluation.
  if (Object.keys(stored).length === 0) return stored
  try {
    return parseOverrides(stored)
  } catch {
    return {}
  }
}
