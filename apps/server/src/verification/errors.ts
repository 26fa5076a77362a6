import { type ErrorRenderer, renderCommon } from '../platform/http-errors.ts'

/** A wrong API key has the two fields that the specification shows, and no other; all else has the common shape. */
export const renderVerificationError: ErrorRenderer = (error, request, reply) => {
  const common = renderCommon(error, request, reply)
  const isPlain = common.contentType.startsWith('application/json')
  if (error.code !== 'INVALID_API_KEY' || !isPlain) return common
  return { ...common, body: { statusCode: error.status, message: error.message } }
}
