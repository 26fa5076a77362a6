export const CALL_ERRORS = [400, 401, 404, 409, 413, 503] as const

/** A request that is answered with this status. The text is fixed and may be sent. */
export class CallError extends Error {
  readonly status: number
  constructor(status: (typeof CALL_ERRORS)[number], message: string) {
    super(message)
    this.name = 'CallError'
    this.status = status
  }
}

/** The checks of an enrolment or an evaluation, in their order. Only metrics and log name the one that failed. */
export const CHECKS = [
  'envelope',
  'message',
  'header',
  'share',
  'nonce',
  'probe_hash',
  'token_hash',
  'signature',
  'format',
] as const
export type Check = (typeof CHECKS)[number]

/** A check failed. The caller gets `reject`, as for a face that is not the same. */
export class Refused extends Error {
  readonly check: Check
  constructor(check: Check) {
    super(`The check ${check} failed`)
    this.name = 'Refused'
    this.check = check
  }
}

export function ensure(check: Check, holds: boolean): asserts holds {
  if (!holds) throw new Refused(check)
}
