import { type ErrorDetail, RiskOverrides } from '@ostiary/contract'
import Value from 'typebox/value'
import { AppError } from '../platform/errors.ts'

/**
 * Parses overrides: what a tenant changes in the risk policy. For overrides that do not come through the HTTP interface, such as the
 * file of `ostiary risk explain --weights`; routes validate with the same schema.
 */
export function parseOverrides(value: unknown): RiskOverrides {
  if (Value.Check(RiskOverrides, value)) return value
  const details = Value.Errors(RiskOverrides, value).flatMap((error): ErrorDetail[] => {
    const at = error.instancePath
    if (error.keyword === 'additionalProperties') {
      return error.params.additionalProperties.map((name) => ({ pointer: `${at}/${name}`, message: 'is not known' }))
    }
    // For an unknown field, TypeBox also reports that its schema is `false`. The error above names the field already.
    return error.keyword === 'boolean' ? [] : [{ pointer: at === '' ? '/' : at, message: error.message }]
  })
  const list = details.map(({ pointer, message }) => `${pointer} ${message}`).join('; ')
  throw new AppError('invalid_request', 'VALIDATION_FAILED', `The risk overrides are not valid: ${list}`, { details })
}

/**
 * The overrides that the session got from its tenant when it was created. Another release may have stored them. If any part is not
 * valid in this release, all of them are ignored and the default policy applies, because the session must be able to end.
 */
export function storedOverrides(stored: object): RiskOverrides {
  // Most tenants have no overrides, so this skips a validation that takes as long as the rest of the evaluation.
  if (Object.keys(stored).length === 0) return stored
  try {
    return parseOverrides(stored)
  } catch {
    return {}
  }
}
