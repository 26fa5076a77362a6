import {
  DOCUMENT_CODES,
  findSessionCodeName,
  isSessionCodeName,
  SESSION_CODE_NAMES,
  SESSION_CODES,
  type SessionCodeName,
  type SetOutcomeBody,
  type VerificationType,
  WEBHOOK_EVENTS,
  type WebhookEventName,
} from '@ostiary/contract'

export const AREAS = ['age', 'verification'] as const
export type Area = (typeof AREAS)[number]

/** A test session that ends so that its event, or its code, is sent. */
export interface Story {
  area: Area
  event: WebhookEventName
  /** Of area D. */
  type: VerificationType
  /** Whether the session asks for an identity document: only then its codes can be in the result. */
  document: boolean
  outcome: SetOutcomeBody
}

export const EVENT_NAMES = Object.keys(WEBHOOK_EVENTS) as WebhookEventName[]

const isEvent = (text: string): text is WebhookEventName => Object.hasOwn(WEBHOOK_EVENTS, text)

const ENDS: Readonly<Record<WebhookEventName, SetOutcomeBody>> = {
  'age.session.completed': {},
  'age.session.cancelled': { errors: [SESSION_CODES.USER_CANCELLED.code] },
  'age.session.expired': { errors: [SESSION_CODES.SESSION_EXPIRED.code] },
  'verification.succeeded': { outcome: 'success' },
  'verification.failed': { errors: [SESSION_CODES.FACE_NOT_MATCH.code, SESSION_CODES.ATTEMPTS_EXCEEDED.code] },
}

/** Age sessions know no enrolled person and no passkey. */
const OF_VERIFICATION: readonly SessionCodeName[] = [
  'PASSKEY_FAILED',
  'TEMPORARILY_LOCKED',
  'USER_NOT_ENROLLED',
  'ALREADY_ENROLLED',
]
const CANCELLING: readonly SessionCodeName[] = ['USER_CANCELLED', 'CONSENT_DECLINED', 'HOST_CANCELLED']
const EXPIRING: readonly SessionCodeName[] = ['SESSION_EXPIRED', 'DESKTOP']

/** The code that a word names: a number or a name, in any case. */
export function findCode(word: string): SessionCodeName | undefined {
  const name = word.toUpperCase().replaceAll('-', '_')
  if (isSessionCodeName(name)) return name
  return /^-?\d+$/.test(word) ? findSessionCodeName(Number(word)) : undefined
}

/** Which areas can have a code. The first one is the usual one. */
export function areasOf(name: SessionCodeName): readonly Area[] {
  return OF_VERIFICATION.includes(name) ? ['verification'] : AREAS
}

/** Undefined for a word that is neither an event nor a code. */
export function storyOf(word: string, { area, type }: { area?: Area; type?: VerificationType }): Story | undefined {
  if (isEvent(word)) {
    return {
      area: WEBHOOK_EVENTS[word].area,
      event: word,
      type: type ?? 'ENROLL',
      document: false,
      outcome: ENDS[word],
    }
  }
  const name = findCode(word)
  if (name === undefined) return undefined
  const chosen = area ?? (type === undefined ? areasOf(name)[0] : 'verification') ?? 'age'
  return {
    area: chosen,
    event: eventOf(name, chosen),
    type: type ?? (name === 'USER_NOT_ENROLLED' ? 'SIGN-IN' : 'ENROLL'),
    document: DOCUMENT_CODES.includes(name),
    outcome: {
      errors: codesWith(name),
      // A blocked session has a risk that is blocked. Sessions of area D take no such field.
      ...(name === 'POLICY_BLOCKED' && chosen === 'age' && { risk: 'CRITICAL' }),
    },
  }
}

/** The codes of a real result with this one: a diagnostic code never ends a session, and a desktop's session expires. */
function codesWith(name: SessionCodeName): number[] {
  const { code, kind } = SESSION_CODES[name]
  if (name === 'DESKTOP') return [code, SESSION_CODES.SESSION_EXPIRED.code]
  return kind === 'D' && name !== 'ALREADY_ENROLLED' ? [code, SESSION_CODES.ATTEMPTS_EXCEEDED.code] : [code]
}

function eventOf(name: SessionCodeName, area: Area): WebhookEventName {
  if (area === 'verification') return name === 'ALREADY_ENROLLED' ? 'verification.succeeded' : 'verification.failed'
  if (CANCELLING.includes(name)) return 'age.session.cancelled'
  return EXPIRING.includes(name) ? 'age.session.expired' : 'age.session.completed'
}

/** Everything that can be triggered, for `--list` and the shell. */
export const TRIGGER_WORDS: readonly string[] = [
  ...EVENT_NAMES,
  ...SESSION_CODE_NAMES.map((name) => String(SESSION_CODES[name].code)),
]
