import {
  type Brand,
  type BrandInput,
  DEFAULT_LOCALE,
  DEFAULT_TOKEN_ALGORITHMS,
  type ErrorDetail,
  LOCALES,
  resolveLocale,
  SETTINGS_LIMITS,
  TENANT_SETTINGS_DEFAULTS,
  type TenantIssuer,
  type TenantSettings,
  TenantSettingsInput,
} from '@ostiary/contract'
import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import Value from 'typebox/value'
import { AppError } from '../platform/errors.ts'
import type { TargetVerdict } from '../platform/outbound/target.ts'
import { oneOf } from '../platform/validation.ts'
import { brandErrors, embedOriginProblem } from './branding.ts'
import { redirectEntryProblem } from './redirects.ts'

const input = Compile(TenantSettingsInput)
const MAX_DETAILS = 20

/** What a tenant has when nothing was ever set. */
export const DEFAULTS: TenantSettings = deepFreeze(structuredClone(TENANT_SETTINGS_DEFAULTS))

/** Puts a change on top of what is stored: what is not named stays, null goes back to the default. */
export function applyPatch(stored: Readonly<Record<string, unknown>>, patch: unknown): Record<string, unknown> {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) {
    throw refused([{ pointer: '', message: 'must be an object' }])
  }
  const named = Object.entries(patch).filter(([, value]) => value !== undefined)
  const merged = new Map([...Object.entries(stored), ...named])
  return Object.fromEntries([...merged].filter(([, value]) => value !== null))
}

/** Checks settings as a whole, before they are stored. Names everything that is wrong with them. */
export function checkSettings(settings: unknown, checkUrl: (url: string) => TargetVerdict): TenantSettingsInput {
  if (!input.Check(settings)) throw refused(withoutOtherForms(input.Errors(settings).flatMap(describe)))
  if (Buffer.byteLength(JSON.stringify(settings)) > SETTINGS_LIMITS.bytes) {
    throw refused([{ pointer: '', message: `must not hold more than ${SETTINGS_LIMITS.bytes / 1024} KB` }])
  }
  const problems = [
    ...localeProblems(settings),
    ...redirectProblems(settings),
    ...embedProblems(settings),
    ...linkProblems(settings),
    ...(settings.brand ? brandErrors(settings.brand) : []),
    ...issuerProblems(settings, checkUrl),
  ]
  if (problems.length > 0) throw refused(problems)
  return settings
}

/**
 * Parses stored settings. Fields that only a newer release knows are left out. An invalid value makes all settings unreadable,
 * because a default must not replace a restriction.
 */
export function readSettings(stored: unknown): TenantSettings {
  const known = Value.Clean(TenantSettingsInput, structuredClone(stored))
  if (!input.Check(known)) throw new AppError('internal', 'INTERNAL', 'The settings of this tenant cannot be read')
  return deepFreeze({
    ...structuredClone(TENANT_SETTINGS_DEFAULTS),
    ...known,
    issuers: (known.issuers ?? []).map(fill),
    brand: known.brand ? fillBrand(known.brand) : null,
  })
}

function fill(issuer: NonNullable<TenantSettingsInput['issuers']>[number]): TenantIssuer {
  return { algorithms: [...DEFAULT_TOKEN_ALGORITHMS], subjectToMetadata: false, ...issuer }
}

function fillBrand(brand: BrandInput): Brand {
  return { logo: null, primary: null, background: null, ...brand }
}

/** Checked only when it is set: a language that a later release lacks must not make stored settings unreadable. */
function localeProblems({ defaultLocale = DEFAULT_LOCALE }: TenantSettingsInput): ErrorDetail[] {
  if (resolveLocale(defaultLocale).state === 'found') return []
  return [{ pointer: '/defaultLocale', message: 'is not one of the languages there are' }]
}

function redirectProblems({ redirectUrls = [] }: TenantSettingsInput): ErrorDetail[] {
  return redirectUrls.flatMap((entry, at) => {
    const message = redirectEntryProblem(entry)
    return message === undefined ? [] : [{ pointer: `/redirectUrls/${at}`, message }]
  })
}

function embedProblems({ embedOrigins = [] }: TenantSettingsInput): ErrorDetail[] {
  return embedOrigins.flatMap((entry, at) => {
    const message = embedOriginProblem(entry)
    return message === undefined ? [] : [{ pointer: `/embedOrigins/${at}`, message }]
  })
}

const LINKS = ['alternativeUrl', 'privacyUrl', 'supportUrl'] as const

/** The page shows them as links. Languages are checked only when they are set, like `defaultLocale`. */
function linkProblems(settings: TenantSettingsInput): ErrorDetail[] {
  return LINKS.flatMap((name) => {
    const urls = settings[name] ?? {}
    if (typeof urls === 'string') return linkProblem(urls, `/${name}`)
    return Object.entries(urls).flatMap(([tag, url]) => [
      ...(tag === 'default' || LOCALES.some((locale) => locale.tag === tag)
        ? []
        : [{ pointer: `/${name}/${tag}`, message: 'is not one of the languages there are' }]),
      ...linkProblem(url, `/${name}/${tag}`),
    ])
  })
}

function linkProblem(text: string, pointer: string): ErrorDetail[] {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isFit = url?.protocol === 'https:' && url.username === '' && url.password === ''
  return isFit ? [] : [{ pointer, message: 'must be an https URL without user and password' }]
}

function issuerProblems(
  { issuers = [] }: TenantSettingsInput,
  checkUrl: (url: string) => TargetVerdict,
): ErrorDetail[] {
  const names = issuers.map(({ issuer }) => issuer)
  return issuers.flatMap(({ issuer, jwksUri }, at) => {
    const problems: ErrorDetail[] = []
    if (names.indexOf(issuer) !== at) problems.push({ pointer: `/issuers/${at}/issuer`, message: 'is listed twice' })
    const verdict = checkUrl(jwksUri)
    if (!verdict.ok) {
      problems.push({ pointer: `/issuers/${at}/jwksUri`, message: `may not be called (${verdict.reason})` })
    }
    return problems
  })
}

function refused(details: readonly ErrorDetail[]): AppError {
  const [first] = details
  const message = first ? `The settings are not valid: ${first.pointer} ${first.message}` : 'The settings are not valid'
  return new AppError('invalid_request', 'VALIDATION_FAILED', message, { details: details.slice(0, MAX_DETAILS) })
}

/** One sentence per field. It never repeats the wrong value. */
function describe(error: TLocalizedValidationError): ErrorDetail[] {
  const at = error.instancePath
  if (error.keyword === 'required') {
    return error.params.requiredProperties.map((name) => ({ pointer: `${at}/${name}`, message: 'is required' }))
  }
  if (error.keyword === 'additionalProperties') {
    return error.params.additionalProperties.map((name) => ({
      pointer: `${at}/${name.slice(0, 100)}`,
      message: 'is not a known field',
    }))
  }
  if (error.keyword === 'enum') return [{ pointer: at, message: oneOf(error.params.allowedValues) }]
  // `additionalProperties`, or the error of the value itself where null is also allowed, gives a better message.
  const isEcho = error.keyword === 'boolean' || error.keyword === 'anyOf' || error.message === 'must be null'
  return isEcho ? [] : [{ pointer: at, message: error.message }]
}

/** A value with two forms, a text or an object, has errors of both: what is wrong with the form that was meant says more than its kind. */
function withoutOtherForms(details: readonly ErrorDetail[]): ErrorDetail[] {
  return details.filter(
    (one) =>
      !['must be string', 'must be object'].includes(one.message) ||
      !details.some(
        (other) => other !== one && (other.pointer === one.pointer || other.pointer.startsWith(`${one.pointer}/`)),
      ),
  )
}

/** Frozen because all requests of a tenant share the object: a change in one would affect all. */
function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) deepFreeze(inner)
    Object.freeze(value)
  }
  return value
}
