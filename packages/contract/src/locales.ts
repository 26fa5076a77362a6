import { directionOf, LOCALE_TAGS, type LocaleTag } from './locale-tags.ts'

export interface Locale {
  tag: LocaleTag
  /** The language's own name. */
  name: string
  english: string
  direction: 'ltr' | 'rtl'
}

const NAMES: Readonly<Record<LocaleTag, { name: string; english: string }>> = {
  en: { name: 'English', english: 'English' },
  bg: { name: 'Български', english: 'Bulgarian' },
  hr: { name: 'Hrvatski', english: 'Croatian' },
  cs: { name: 'Čeština', english: 'Czech' },
  da: { name: 'Dansk', english: 'Danish' },
  nl: { name: 'Nederlands', english: 'Dutch' },
  et: { name: 'Eesti', english: 'Estonian' },
  fi: { name: 'Suomi', english: 'Finnish' },
  fr: { name: 'Français', english: 'French' },
  de: { name: 'Deutsch', english: 'German' },
  el: { name: 'Ελληνικά', english: 'Greek' },
  hu: { name: 'Magyar', english: 'Hungarian' },
  ga: { name: 'Gaeilge', english: 'Irish' },
  it: { name: 'Italiano', english: 'Italian' },
  lv: { name: 'Latviešu', english: 'Latvian' },
  lt: { name: 'Lietuvių', english: 'Lithuanian' },
  mt: { name: 'Malti', english: 'Maltese' },
  pl: { name: 'Polski', english: 'Polish' },
  pt: { name: 'Português (Portugal)', english: 'Portuguese (Portugal)' },
  ro: { name: 'Română', english: 'Romanian' },
  sk: { name: 'Slovenčina', english: 'Slovak' },
  sl: { name: 'Slovenščina', english: 'Slovenian' },
  es: { name: 'Español', english: 'Spanish' },
  sv: { name: 'Svenska', english: 'Swedish' },
  nb: { name: 'Norsk bokmål', english: 'Norwegian Bokmål' },
  uk: { name: 'Українська', english: 'Ukrainian' },
  ru: { name: 'Русский', english: 'Russian' },
  tr: { name: 'Türkçe', english: 'Turkish' },
  ar: { name: 'العربية', english: 'Arabic' },
  he: { name: 'עברית', english: 'Hebrew' },
  fa: { name: 'فارسی', english: 'Persian' },
  ur: { name: 'اردو', english: 'Urdu' },
  hi: { name: 'हिन्दी', english: 'Hindi' },
  bn: { name: 'বাংলা', english: 'Bengali' },
  id: { name: 'Bahasa Indonesia', english: 'Indonesian' },
  ms: { name: 'Bahasa Melayu', english: 'Malay' },
  vi: { name: 'Tiếng Việt', english: 'Vietnamese' },
  th: { name: 'ไทย', english: 'Thai' },
  ja: { name: '日本語', english: 'Japanese' },
  ko: { name: '한국어', english: 'Korean' },
  'zh-Hans': { name: '简体中文', english: 'Chinese, Simplified' },
  'zh-Hant': { name: '繁體中文', english: 'Chinese, Traditional' },
  'pt-BR': { name: 'Português (Brasil)', english: 'Portuguese (Brazil)' },
  fil: { name: 'Filipino', english: 'Filipino' },
}

export const LOCALES: readonly Locale[] = LOCALE_TAGS.map((tag) => ({
  tag,
  ...NAMES[tag],
  direction: directionOf(tag),
}))

export const LOCALE_REVIEWS = ['native_reviewed', 'machine_draft'] as const
export type LocaleReview = (typeof LOCALE_REVIEWS)[number]

/** Languages whose texts a native speaker has read, all of them, and says so in a commit. None so far. */
const NATIVE_REVIEWED: readonly LocaleTag[] = []

/** Who has read the texts of a language. */
export function reviewOf(tag: LocaleTag): LocaleReview {
  return NATIVE_REVIEWED.includes(tag) ? 'native_reviewed' : 'machine_draft'
}
