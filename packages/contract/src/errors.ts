import Type from 'typebox'

/**
 * Every error code that areas A to D and the launch and admin endpoints can answer with.
 * `docs/errors.md` is generated from this table, and the tidy test checks that the two agree.
 * Area E has replies of its own: node-errors.ts.
 */
export const ERRORS = {
  BAD_REQUEST: {
    status: 400,
    meaning: 'The request is not well-formed HTTP, or its path or a header cannot be read.',
    remedy: 'Check the URL encoding and the headers your client sends.',
  },
  INVALID_JSON: {
    status: 400,
    meaning: 'The body is not valid JSON in UTF-8, is nested too deeply, or holds text that cannot be stored.',
    remedy: 'Send one JSON value in UTF-8, at most 32 levels deep, without NUL or half surrogate pairs.',
  },
  VALIDATION_FAILED: {
    status: 400,
    meaning: 'A field, query parameter or header has a value that is not allowed.',
    remedy: '`details` names each place as a JSON pointer and says what is expected.',
  },
  NO_FILE: {
    status: 400,
    meaning: 'The form has no file part named `file`.',
    remedy: 'Send `multipart/form-data` with one file part named `file`.',
  },
  NOT_A_CSV_FILE: {
    status: 400,
    meaning: 'The name of the uploaded file does not end in `.csv`.',
    remedy: 'Save the table as CSV and send it under a name that ends in `.csv`.',
  },
  MISSING_CSV_HEADERS: {
    status: 400,
    meaning:
      'The first line of the CSV does not name all of `id`, `firstname`, `lastname` and `dob`, or is over 64 KB.',
    remedy: 'Put the column names in the first line; capitals do not matter. `details` names what is missing.',
  },
  INVALID_CSV: {
    status: 400,
    meaning:
      'The CSV is empty, is not UTF-8 text, has broken quoting or a field that is too long. Nothing was screened.',
    remedy: 'The message or `details` names the line. Save the file as “CSV UTF-8”.',
  },
  INVALID_LOCALE: {
    status: 400,
    meaning: '`locale` is not a language tag.',
    remedy: 'Send a tag such as `de` or `pt-BR`. A well-formed tag of a language we do not have is fine.',
  },
  INVALID_URL: {
    status: 400,
    meaning: 'A URL in the body cannot be used: its form, its scheme, or an address that may not be called.',
    remedy: 'The message and `details` say which and why. Live keys need https.',
  },
  INVALID_PAYLOAD: {
    status: 400,
    meaning: 'The sealed payload of a device cannot be opened, or is not what it should be.',
    remedy: 'Only the launch page sends these. Reload it; if it stays so, report the `requestId`.',
  },
  MISSING_API_KEY: {
    status: 401,
    meaning:
      'This operation needs an API key and none was sent; or a credential was sent in a place where it is not read, ' +
      'which is never served as anonymous.',
    remedy: 'Send your key in the header `x-api-key`.',
  },
  INVALID_API_KEY: {
    status: 401,
    meaning: 'The API key that was sent does not exist. A wrong key is refused even where none is needed.',
    remedy: 'Check that the whole key was copied, and that it belongs to this installation.',
  },
  INVALID_CLIENT_CREDENTIALS: {
    status: 401,
    meaning: 'The client credentials are missing where the tenant needs them, wrong, revoked or too old.',
    remedy: 'Send client id and secret, or a token of `POST /oauth/token`, of the same tenant and mode as the API key.',
  },
  INVALID_TOKEN: {
    status: 401,
    meaning: 'The bearer token is not valid, or the tenant has no identity provider that it could come from.',
    remedy: 'Send a current token of a configured issuer, or none: it is optional.',
  },
  INVALID_DEVICE_PROOF: {
    status: 401,
    meaning: 'The device’s signature is missing, wrong or was used before.',
    remedy: 'Only the launch page sends these. Check that its requests are not changed or repeated on the way.',
  },
  DEVICE_CLOCK_CHANGED: {
    status: 409,
    meaning: 'The time in a device’s call does not match its clock as measured at `open`.',
    remedy:
      'Only the launch page sends these. It opens the session again by itself; a client of your own does the same.',
  },
  KEY_INACTIVE: {
    status: 403,
    meaning: 'The API key was revoked, its rotation period has ended, or its tenant is suspended.',
    remedy: 'Use the key that replaced it, or ask your operator for a new one.',
  },
  SCOPE_DENIED: {
    status: 403,
    meaning: 'The API key is valid but may not do this.',
    remedy: 'Use a key with the scope that the message names.',
  },
  ADDRESS_DENIED: {
    status: 403,
    meaning: 'The API key may not be used from this network address.',
    remedy: 'Call from an address on the key’s allow-list, or have the list changed.',
  },
  DEVICE_MISMATCH: {
    status: 403,
    meaning: 'The session belongs to another device (session code -16).',
    remedy: 'Continue on the first device, or hand the session over with its QR code.',
  },
  NOT_FOUND: {
    status: 404,
    meaning: 'Nothing is there: unknown path, unknown or malformed id, or an id of another tenant.',
    remedy: 'Check the path and the id. A test key sees only test data, a live key only live data.',
  },
  UNKNOWN_DATASET: {
    status: 404,
    meaning: 'There is no sanctions dataset with this name, or no such version of it.',
    remedy:
      '`details` names the datasets, or the versions, that there are; `GET /v2/open-sanctions/datasets` lists them with their versions.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The path exists, but not with this method.',
    remedy: 'The header `Allow` lists the methods that work.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    meaning: 'The request did not arrive completely in time.',
    remedy: 'Send it again on a new connection.',
  },
  IDEMPOTENCY_MISMATCH: {
    status: 409,
    meaning: 'This `Idempotency-Key` was already used with another request.',
    remedy: 'Use a new key for a new request; repeat the same body for a retry.',
  },
  SESSION_NOT_OPEN: {
    status: 409,
    meaning: 'The session has ended, or is not at the step that this call belongs to.',
    remedy: 'Read its state. A flow that has ended stays as it is.',
  },
  SESSION_OPEN: {
    status: 409,
    meaning: 'The session has not ended yet.',
    remedy: 'To erase it, cancel it first. To confirm a code or to read the webhook, wait for the end.',
  },
  CHALLENGE_NOT_VALID: {
    status: 409,
    meaning: 'There is no challenge under way, or its 90 seconds have passed.',
    remedy: 'Ask for a new challenge and capture again.',
  },
  NO_TOKEN: {
    status: 404,
    meaning: 'This device holds no key of a token that fits the session, or did not prove that it does.',
    remedy: 'Name the person in the create call, sign in on the device that enrolled, or enrol again.',
  },
  TOKEN_REFUSED: {
    status: 409,
    meaning: 'A signature, a hash or a test of the token or the probe does not hold.',
    remedy: 'Ask for a new challenge and capture again.',
  },
  PAYLOAD_REPLAYED: {
    status: 409,
    meaning: 'This challenge was answered already (session code -15).',
    remedy: 'Nothing: a capture counts once. The repeat is noted in the risk evaluation.',
  },
  HANDOFF_REFUSED: {
    status: 409,
    meaning:
      'The handoff code is wrong, used or older than 5 minutes, its number was not the one on the first screen, the session was handed over twice already, or may not be handed over.',
    remedy: 'Make a new code on the first device, or go on there.',
  },
  CODE_WRONG: {
    status: 409,
    meaning:
      'The code of the return is not the one that the session ended with, the session has none, or five wrong codes were sent already.',
    remedy: 'Treat the user as not verified: this browser did not finish the session.',
  },
  CODE_USED: {
    status: 409,
    meaning: 'The code of the return was confirmed before.',
    remedy: 'Treat the user as not verified. To repeat a call whose answer was lost, send the same `Idempotency-Key`.',
  },
  RUNS_NOT_KEPT: {
    status: 409,
    meaning: 'The tenant keeps no runs of area B.',
    remedy: 'Screen without `run`; or have the operator set `screeningRunDays` of the tenant, at most 400 days.',
  },
  RUN_CONFLICT: {
    status: 409,
    meaning:
      'The run is not in the state for this: it is complete already, or not yet; a part is missing, or is of another dataset, version or threshold; ' +
      'it has more hits, or the tenant has more runs, than are kept; or two runs of different datasets are compared.',
    remedy:
      'The message says which. Begin a new run and send all parts again, or delete runs that are no longer needed.',
  },
  GONE: {
    status: 410,
    meaning: 'It was there and is deleted: a session past its retention, or what an `Idempotency-Key` had created.',
    remedy: 'Create it again, with a new `Idempotency-Key`.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    meaning: 'The body is larger than this operation takes.',
    remedy: 'JSON bodies hold at most 256 KB.',
  },
  FILE_TOO_LARGE: {
    status: 413,
    meaning: 'The uploaded file is larger than 2 MB (2,097,152 bytes).',
    remedy: 'Split the file; each part needs the header line.',
  },
  FILE_TOO_COSTLY: {
    status: 413,
    meaning:
      'Comparing the rows of the file takes more processor time than one file may take below the default `scoreThreshold` of 0.95. The operator sets how much (`SANCTIONS_FILE_SECONDS`); usual files need a small part of it. `match` has its own bound, at every threshold.',
    remedy:
      'Raise `scoreThreshold` to 0.95, where every file completes, or split the file: below 0.7 a row is compared with very many entries. Fill in both names.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: 'The body’s `Content-Type`, charset or `Content-Encoding` is not one this operation reads.',
    remedy: 'Send `application/json` in UTF-8, not compressed.',
  },
  RATE_LIMITED: {
    status: 429,
    meaning: 'Too many requests in a short time.',
    remedy:
      'Wait the seconds given in `Retry-After` (also in the body as `retryAfter`). Files of area B: 6 a minute with a live key, 3 with a test key, 1 without; single people go to `/v2/open-sanctions/match/{dataset}`.',
  },
  TOO_MANY_FILES: {
    status: 429,
    meaning:
      'Two files of this API key, or four of its calls of `match`, or 16 of its tenant, are being screened already, or very many of all callers together. ' +
      'Callers without a key count as one tenant.',
    remedy: 'Send the next file when one of them is answered.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    meaning: 'The request’s headers are too large.',
    remedy: 'All headers together hold at most 16 KB.',
  },
  INTERNAL: {
    status: 500,
    meaning: 'A fault in the service.',
    remedy: 'Report the `requestId` to your operator.',
  },
  DEPENDENCY_DOWN: {
    status: 503,
    meaning:
      'The database is out of reach or stores nothing, two calls blocked each other, your calls use their whole share of it, or the service is starting or stopping. Nothing is known to be stored.',
    remedy: 'Wait the seconds in `Retry-After`, then retry with the same `Idempotency-Key`.',
  },
  KEY_HOLDER_UNAVAILABLE: {
    status: 503,
    meaning: 'The key holder is out of reach. Nobody is recognised without it.',
    remedy: 'Retry after the seconds in `Retry-After`; if it stays so, ask your operator.',
  },
  DATASET_UNAVAILABLE: {
    status: 503,
    meaning: 'The dataset exists but cannot be read now. Nothing was screened.',
    remedy: 'Retry later; if it stays so, ask your operator to import the dataset again.',
  },
} as const satisfies Record<string, { status: number; meaning: string; remedy: string }>

export type ErrorCode = keyof typeof ERRORS

export const ErrorDetail = Type.Object(
  {
    pointer: Type.String({ description: 'JSON pointer into the request: `/body/value`, `/query/limit`' }),
    message: Type.String({ description: 'What is wrong there, in words' }),
  },
  { title: 'ErrorDetail' },
)

export const ErrorBody = Type.Object(
  {
    statusCode: Type.Integer({ description: 'The HTTP status again' }),
    message: Type.String({ description: 'A sentence for people; may change' }),
    code: Type.Enum(Object.keys(ERRORS) as ErrorCode[], { description: 'A stable code for programs' }),
    requestId: Type.String({ description: 'Also in the header `X-Request-ID`; quote it to support' }),
    details: Type.Optional(Type.Array(ErrorDetail, { description: 'What is wrong, place by place' })),
    retryAfter: Type.Optional(
      Type.Integer({ description: 'Seconds to wait; with `RATE_LIMITED` and `TOO_MANY_FILES`' }),
    ),
  },
  {
    title: 'Error',
    description: 'Every error of areas A to D has this body; alone the 401 of a wrong API key in area D is shorter',
  },
)
export type ErrorBody = Type.Static<typeof ErrorBody>
export type ErrorDetail = Type.Static<typeof ErrorDetail>

export const InvalidKeyBody = Type.Object(
  { statusCode: Type.Literal(401), message: Type.String({ examples: ['Invalid API key'] }) },
  {
    title: 'InvalidApiKey',
    description: 'A wrong API key in area D: the two fields that the specification shows, and no other',
    additionalProperties: false,
  },
)
