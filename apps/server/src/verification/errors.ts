import { type ErrorRenderer, renderCommon } from '../platform/http-errors.ts'

/**
 * The answer to a wrong API key has only the two fields that the specification shows. Every other error has the common shape. So has this
 * one for a client that asks for problem details (RFC 9457).
 */
export const renderVerificationError: ErrorRenderer = (error, request, reply) => {
  const common = renderCommon(error, request, reply)
  const isPlainJson = common.contentType.startsWith('application/json')
  if (error.code !== 'INVALID_API_KEY' || !isPlainJson) return common
  return { ...common, body: { statusCode: error.status, message: error.message } }
}
