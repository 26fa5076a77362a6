/** The languages of the launch page: the 24 official ones of the EU and 20 more. `name` is the language's own. */
export const LOCALES = [
  { tag: 'en', name: 'English', english: 'English', direction: 'ltr' },
  { tag: 'bg', name: 'Български', english: 'Bulgarian', direction: 'ltr' },
  { tag: 'hr', name: 'Hrvatski', english: 'Croatian', direction: 'ltr' },
  { tag: 'cs', name: 'Čeština', english: 'Czech', direction: 'ltr' },
  { tag: 'da', name: 'Dansk', english: 'Danish', direction: 'ltr' },
  { tag: 'nl', name: 'Nederlands', english: 'Dutch', direction: 'ltr' },
  { tag: 'et', name: 'Eesti', english: 'Estonian', direction: 'ltr' },
  { tag: 'fi', name: 'Suomi', english: 'Finnish', direction: 'ltr' },
  { tag: 'fr', name: 'Français', english: 'French', direction: 'ltr' },
  { tag: 'de', name: 'Deutsch', english: 'German', direction: 'ltr' },
  { tag: 'el', name: 'Ελληνικά', english: 'Greek', direction: 'ltr' },
  { tag: 'hu', name: 'Magyar', english: 'Hungarian', direction: 'ltr' },
  { tag: 'ga', name: 'Gaeilge', english: 'Irish', direction: 'ltr' },
  { tag: 'it', name: 'Italiano', english: 'Italian', direction: 'ltr' },
  { tag: 'lv', name: 'Latviešu', english: 'Latvian', direction: 'ltr' },
  { tag: 'lt', name: 'Lietuvių', english: 'Lithuanian', direction: 'ltr' },
  { tag: 'mt', name: 'Malti', english: 'Maltese', direction: 'ltr' },
  { tag: 'pl', name: 'Polski', english: 'Polish', direction: 'ltr' },
  { tag: 'pt', name: 'Português (Portugal)', english: 'Portuguese (Portugal)', direction: 'ltr' },
  { tag: 'ro', name: 'Română', english: 'Romanian', direction: 'ltr' },
  { tag: 'sk', name: 'Slovenčina', english: 'Slovak', direction: 'ltr' },
  { tag: 'sl', name: 'Slovenščina', english: 'Slovenian', direction: 'ltr' },
  { tag: 'es', name: 'Español', english: 'Spanish', direction: 'ltr' },
  { tag: 'sv', name: 'Svenska', english: 'Swedish', direction: 'ltr' },
  { tag: 'nb', name: 'Norsk bokmål', english: 'Norwegian Bokmål', direction: 'ltr' },
  { tag: 'uk', name: 'Українська', english: 'Ukrainian', direction: 'ltr' },
  { tag: 'ru', name: 'Русский', english: 'Russian', direction: 'ltr' },
  { tag: 'tr', name: 'Türkçe', english: 'Turkish', direction: 'ltr' },
  { tag: 'ar', name: 'العربية', english: 'Arabic', direction: 'rtl' },
  { tag: 'he', name: 'עברית', english: 'Hebrew', direction: 'rtl' },
  { tag: 'fa', name: 'فارسی', english: 'Persian', direction: 'rtl' },
  { tag: 'ur', name: 'اردو', english: 'Urdu', direction: 'rtl' },
  { tag: 'hi', name: 'हिन्दी', english: 'Hindi', direction: 'ltr' },
  { tag: 'bn', name: 'বাংলা', english: 'Bengali', direction: 'ltr' },
  { tag: 'id', name: 'Bahasa Indonesia', english: 'Indonesian', direction: 'ltr' },
  { tag: 'ms', name: 'Bahasa Melayu', english: 'Malay', direction: 'ltr' },
  { tag: 'vi', name: 'Tiếng Việt', english: 'Vietnamese', direction: 'ltr' },
  { tag: 'th', name: 'ไทย', english: 'Thai', direction: 'ltr' },
  { tag: 'ja', name: '日本語', english: 'Japanese', direction: 'ltr' },
  { tag: 'ko', name: '한국어', english: 'Korean', direction: 'ltr' },
  { tag: 'zh-Hans', name: '简体中文', english: 'Chinese, Simplified', direction: 'ltr' },
  { tag: 'zh-Hant', name: '繁體中文', english: 'Chinese, Traditional', direction: 'ltr' },
  { tag: 'pt-BR', name: 'Português (Brasil)', english: 'Portuguese (Brazil)', direction: 'ltr' },
  { tag: 'fil', name: 'Filipino', english: 'Filipino', direction: 'ltr' },
] as const satisfies readonly { tag: string; name: string; english: string; direction: 'ltr' | 'rtl' }[]

export type LocaleTag = (typeof LOCALES)[number]['tag']

export const DEFAULT_LOCALE: LocaleTag = 'en'

export const LOCALE_REVIEWS = ['native_reviewed', 'machine_draft'] as const
export type LocaleReview = (typeof LOCALE_REVIEWS)[number]

/**
 * The languages that the page has texts in, and who has read them. Nothing is reviewed until a native speaker has read all
 * of it and says so in a commit.
 */
export const PAGE_LOCALES: Readonly<Partial<Record<LocaleTag, LocaleReview>>> = {
  en: 'machine_draft',
  de: 'machine_draft',
  ar: 'machine_draft',
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
  ...LOCALES.map(({ tag }): [string, LocaleTag] => [tag.toLowerCase(), tag]),
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
    const resolved = resolveLocale(tag ?? '')
    if (resolved.state === 'found') return resolved.tag
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
