/**
 * The paths of the device API. The launch page imports this file by itself (`@ostiary/contract/paths`), so it must not
 * import the validator. The operations in launch.ts take their paths from here.
 */
/** Every path of the device API begins with this. */
export const LAUNCH_API = '/launch/api/'

export const LAUNCH_PATHS = {
  open: '/launch/api/open',
  consent: '/launch/api/consent',
  challenge: '/launch/api/challenge',
  events: '/launch/api/events',
  submit: '/launch/api/submit',
  failure: '/launch/api/failure',
  cancel: '/launch/api/cancel',
  extend: '/launch/api/extend',
  handoff: '/launch/api/handoff',
  takeBack: '/launch/api/take-back',
  number: '/launch/api/number',
  passkeyOptions: '/launch/api/passkey/options',
  passkeyVerify: '/launch/api/passkey/verify',
  document: '/launch/api/document',
  documentSubmit: '/launch/api/document/submit',
  tokenBegin: '/launch/api/token/begin',
  tokenEnrol: '/launch/api/token/enrol',
  tokenProbe: '/launch/api/token/probe',
  status: '/launch/api/status',
} as const
