import Type from 'typebox'

/**
 * Every reply of area E that is not a success: HTTP status, `status` in the body and the message. The specification's own
 * rows are the first group; the second is ours, for what it leaves open. A message may go on after a colon with the
 * reason. The codes are for logs and documents: area E's bodies hold `status` and `message` only.
 */
export const NODE_ERRORS = {
  NODE_KEY_MISSING: {
    http: 400,
    status: -1,
    message: 'Missing api key',
    meaning: 'No API key, neither in the header `x-api-key` nor in the body field `api_key`.',
  },
  NODE_KEY_REJECTED: {
    http: 403,
    status: -1,
    message: 'Failed to check api key',
    meaning:
      'The key does not exist or is not active, lacks the scope `node:*`, may not be used from this address or at this host name, or header and ' +
      'body hold different keys.',
  },
  NODE_ENROLL_FEATURES_MISSING: {
    http: 400,
    status: -2,
    message: 'Enrollment Failed Features not provided.',
    meaning: 'Enrol was called without `features`.',
  },
  NODE_DELETE_FAILED: {
    http: 400,
    status: 400,
    message: 'delete failed',
    meaning:
      'No such user: never enrolled, deleted before, of another tenant or mode, or a `puid` that does not open, such as one in clear.',
  },
  NODE_PUID_MISSING: {
    http: 500,
    status: -2,
    message: 'Missing PUID.',
    meaning: 'Delete was called with neither `puid` nor `metadata.id`. The specification answers this with 500.',
  },

  NODE_PREDICT_FEATURES_MISSING: {
    http: 400,
    status: -2,
    message: 'Prediction Failed Features not provided.',
    meaning: 'Predict was called without `features`.',
  },
  NODE_FEATURES_INVALID: {
    http: 400,
    status: -2,
    message: 'Features are not valid',
    meaning:
      'Wrong type, wrong number of entries for the model version, an entry that is no finite number, or all zero.',
  },
  NODE_FEATURES_UNREADABLE: {
    http: 400,
    status: -2,
    message: 'Features could not be decrypted',
    meaning:
      'No valid envelope, encrypted with another key, for another operation or model version, outside the time window, or used before.',
  },
  NODE_PUID_UNREADABLE: {
    http: 400,
    status: -2,
    message: 'PUID could not be used',
    meaning: 'An envelope made for the deletion is for another model version or outside the time window.',
  },
  NODE_ENCRYPTION_VERSION: {
    http: 400,
    status: -2,
    message: 'Unknown encryption version',
    meaning: 'The header `x-encryption-version` names a version other than 1.',
  },
  NODE_INVALID_JSON: {
    http: 400,
    status: -2,
    message: 'Invalid JSON',
    meaning: 'The body is no JSON object in UTF-8.',
  },
  NODE_VERSION_UNKNOWN: {
    http: 400,
    status: -1,
    message: 'Unknown model version',
    meaning:
      'The path or the body names a model version that is neither built in nor declared by the tenant of the key.',
  },
  NODE_FIELD_INVALID: {
    http: 400,
    status: -1,
    message: 'Invalid request',
    meaning: 'A field other than `features` has a wrong value, or is not known.',
  },
  NODE_ENROLL_REFUSED: {
    http: 400,
    status: 152,
    message: 'Face enrollment failed',
    meaning: 'Every feature was judged bad, or `metadata.id` is bound to another face.',
  },
  NODE_ENROLL_FAILED: {
    http: 500,
    status: 152,
    message: 'Face enrollment failed',
    meaning: 'The enrolment job failed three times. Nothing half-done remains; enrol again.',
  },
  NODE_PREDICT_FAILED: {
    http: 500,
    status: 153,
    message: 'Face authentication failed',
    meaning: 'The comparison could not be carried out. It is no statement about the user.',
  },
  NODE_RATE_LIMITED: {
    http: 429,
    status: -1,
    message: 'Too many requests',
    meaning:
      'Over the rate of this key, too many wrong keys from this address, too many predictions near one person, or the processor time of this key is used up. ' +
      '`Retry-After` says how long to wait.',
  },
  NODE_BAD_REQUEST: {
    http: 400,
    status: 400,
    message: 'The request cannot be read',
    meaning: 'Not well-formed HTTP.',
  },
  NODE_NOT_FOUND: {
    http: 404,
    status: 400,
    message: 'There is nothing at this path',
    meaning: 'Unknown path under `/node`.',
  },
  NODE_METHOD_NOT_ALLOWED: {
    http: 405,
    status: 400,
    message: 'This path does not take this method',
    meaning: 'Area E is called with POST only.',
  },
  NODE_TOO_LARGE: {
    http: 413,
    status: 400,
    message: 'The body is too large',
    meaning: 'Bodies hold at most 1 MB.',
  },
  NODE_MEDIA_TYPE: {
    http: 415,
    status: 400,
    message: 'The body must be application/json in UTF-8',
    meaning: 'Another `Content-Type`, charset or a `Content-Encoding`.',
  },
  NODE_INTERNAL: {
    http: 500,
    status: 500,
    message: 'Server-side processing error',
    meaning: 'A fault in the service. Nothing is known to be done; try again.',
  },
  NODE_STORE_DOWN: {
    http: 503,
    status: 500,
    message: 'Server-side processing error',
    meaning:
      'The store is out of reach. `status` is 152 for an enrolment, 153 for a prediction, 500 for anything else. Nothing is known to ' +
      'be done; try again after `Retry-After`.',
  },
} as const satisfies Record<string, { http: number; status: number; message: string; meaning: string }>

export type NodeErrorCode = keyof typeof NODE_ERRORS

/** What the numbers in `status` mean, as the specification lists them. */
export const NODE_STATUSES = {
  0: 'Success',
  [-1]: 'User not enrolled; validation or server errors; the key cases of their own rows',
  [-2]: 'Missing or unusable features, invalid JSON, authentication errors (an encryption that does not open)',
  152: 'Face enrollment failed',
  153: 'Face authentication failed',
  200: 'Delete succeeded',
  400: 'Bad request: invalid format or missing required fields; delete of an unknown user',
  403: 'Forbidden: invalid or inactive API key. It is the HTTP status of that case; the body says -1',
  500: 'Server-side processing error',
} as const

export const NodeError = Type.Object(
  {
    status: Type.Integer({ description: 'One of the numbers listed in docs/errors.md' }),
    message: Type.String(),
  },
  { title: 'NodeError', description: 'Every error of area E has this body' },
)
export type NodeError = Type.Static<typeof NodeError>
