import { directionOf, type LocaleTag, localeOf } from '@ostiary/contract/locale-tags'
import type { TranslateDocuments } from './document-keys.ts'
import { createTranslate, type Language, type Messages, type Translate } from './translate.ts'

const FALLBACK: LocaleTag = 'en'

export interface Texts {
  tag: LocaleTag
  /** The language's own name. */
  name: string
  direction: Language['direction']
  t: Translate
  /** Only in sessions that may ask for a document. */
  documents?: TranslateDocuments
}

/** Loaders of the texts by file path. */
export type TextFiles = Readonly<Record<string, () => Promise<unknown>>>

/** As hosts and browsers spell them, in order of preference. */
export type WantedTags = readonly (string | null | undefined)[]

/** The first wanted tag that is one of our languages. */
export function firstOf(wanted: WantedTags): LocaleTag | undefined {
  for (const tag of wanted) {
    const found = localeOf(tag ?? '')
    if (found) return found
  }
  return undefined
}

/** The same, or English. */
export function choose(wanted: WantedTags): LocaleTag {
  return firstOf(wanted) ?? FALLBACK
}

/**
 * The name, in the language that is shown, of the user's first language if we do not have it: a user who gets another one must know.
 * Null if there is nothing to say.
 */
export function missingLanguage(preferred: readonly string[], shown: LocaleTag): string | null {
  const [first = ''] = preferred
  if (first === '' || localeOf(first)) return null
  try {
    return new Intl.DisplayNames(shown, { type: 'language', fallback: 'none' }).of(first) ?? null
  } catch {
    return null
  }
}

export function createLanguages(files: TextFiles) {
  return {
    async load(tag: LocaleTag): Promise<Texts> {
      const file = files[`./${tag}.json`]
      if (!file) throw new Error(`There are no texts for ${tag}`)
      const messages = (await file()) as Messages // Our own file: a test checks that it is complete.
      const direction = directionOf(tag)
      const t = createTranslate(messages, { tag, direction })
      return { tag, name: t('language.name'), direction, t }
    },
  }
}
