/* Tags and their lookup. The launch page imports this file by itself (`@ostiary/contract/locale-tags`): the names take more than all of this. */

/** The languages of the launch page: the 24 official ones of the EU and 20 more. */
export const LOCALE_TAGS = [
  'en',
  'bg',
  'hr',
  'cs',
  'da',
  'nl',
  'et',
  'fi',
  'fr',
  'de',
  'el',
  'hu',
  'ga',
  'it',
  'lv',
  'lt',
  'mt',
  'pl',
  'pt',
  'ro',
  'sk',
  'sl',
  'es',
  'sv',
  'nb',
  'uk',
  'ru',
  'tr',
  'ar',
  'he',
  'fa',
  'ur',
  'hi',
  'bn',
  'id',
  'ms',
  'vi',
  'th',
  'ja',
  'ko',
  'zh-Hans',
  'zh-Hant',
  'pt-BR',
  'fil',
] as const
export type LocaleTag = (typeof LOCALE_TAGS)[number]

export const DEFAULT_LOCALE: LocaleTag = 'en'

const FROM_RIGHT_TO_LEFT: readonly LocaleTag[] = ['ar', 'he', 'fa', 'ur']

export function directionOf(tag: LocaleTag): 'ltr' | 'rtl' {
  return FROM_RIGHT_TO_LEFT.includes(tag) ? 'rtl' : 'ltr'
}

/** Longer tags are legal, but no language of ours has one. */
const TAG_CHARS_MAX = 64

/** Names that truncation does not lead to one of ours, or would lead to the wrong one. */
const ALIASES: Readonly<Record<string, LocaleTag>> = {
  zh: 'zh-Hans',
  'zh-tw': 'zh-Hant',
  'zh-hk': 'zh-Hant',
  'zh-mo': 'zh-Hant',
  no: 'nb',
  nn: 'nb',
  tl: 'fil',
  iw: 'he',
  in: 'id',
}

const TAGS: ReadonlyMap<string, LocaleTag> = new Map([
  ...Object.entries(ALIASES),
  ...LOCALE_TAGS.map((tag): [string, LocaleTag] => [tag.toLowerCase(), tag]),
])

/** The grammar of RFC 5646 section 2.1 in lower case. */
const PRIVATE = 'x(?:-[a-z0-9]{1,8})+'
const LANGUAGE = '(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})'
const VARIANTS = '(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*'
const EXTENSIONS = '(?:-[0-9a-wyz](?:-[a-z0-9]{2,8})+)*'
const TAG = new RegExp(
  `^(?:${LANGUAGE}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?${VARIANTS}${EXTENSIONS}(?:-${PRIVATE})?|${PRIVATE})$`,
)
/** Registered before the grammar existed: they do not match it but are well-formed. */
const IRREGULAR = new Set(
  (
    'en-gb-oed i-ami i-bnn i-default i-enochian i-hak i-klingon i-lux i-mingo i-navajo i-pwn i-tao i-tay i-tsu ' +
    'sgn-be-fr sgn-be-nl sgn-ch-de'
  ).split(' '),
)

export type LocaleResolution = { state: 'found'; tag: LocaleTag } | { state: 'unknown' } | { state: 'malformed' }

/**
 * Which of our languages a tag asks for: any case, `-` or `_`, and the lookup of RFC 4647 section 3.4, which shortens the
 * tag from its end until something fits. `unknown` is a language we do not have; `malformed` is no tag at all.
 */
export function resolveLocale(text: string): LocaleResolution {
  if (text.length > TAG_CHARS_MAX) return { state: 'malformed' }
  const tag = text.replaceAll('_', '-').toLowerCase()
  if (!TAG.test(tag) && !IRREGULAR.has(tag)) return { state: 'malformed' }
  const parts = tag.split('-')
  while (parts.length > 0) {
    const found = TAGS.get(parts.join('-'))
    if (found !== undefined) return { state: 'found', tag: found }
    parts.pop()
  }
  return { state: 'unknown' }
}

/** The language that a text names, if it is one of ours. */
export function localeOf(text: string): LocaleTag | undefined {
  const resolved = resolveLocale(text)
  return resolved.state === 'found' ? resolved.tag : undefined
}

/**
 * The language of the page: what the host asked for, else the browser's preference, else the tenant's default, else
 * English. Tags that are unknown or malformed are skipped; the caller decides whether a malformed one is an error.
 */
export function chooseLocale(preferences: {
  locale?: string | undefined
  acceptLanguage?: string | undefined
  tenantDefault?: string | undefined
}): LocaleTag {
  const inOrder = [preferences.locale, ...acceptedTags(preferences.acceptLanguage ?? ''), preferences.tenantDefault]
  for (const tag of inOrder) {
    const found = localeOf(tag ?? '')
    if (found) return found
  }
  return DEFAULT_LOCALE
}

/** A browser sends a handful of languages; the rest of a longer header is not read. */
const ACCEPTED_MAX = 20

/** The tags of an `Accept-Language` header by descending quality; equal ones keep their order. */
function acceptedTags(header: string): string[] {
  return header
    .split(',', ACCEPTED_MAX)
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((piece) => piece.trim())
      const quality = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2) ?? '1'
      return { tag, quality: /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality) ? Number(quality) : 0 }
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag)
}
