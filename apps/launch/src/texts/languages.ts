import { LOCALES, type LocaleTag, resolveLocale } from '@ostiary/contract'
import type { TranslateDocuments } from './document-keys.ts'
import { createTranslate, type Language, type Messages, type Translate } from './translate.ts'

const FALLBACK = 'en'

export interface Texts {
  tag: LocaleTag
  /** The language's own name. */
  name: string
  direction: Language['direction']
  t: Translate
  /** Only in sessions that may ask for a document. */
  documents?: TranslateDocuments
}

/** Loaders of the texts by file path, as `import.meta.glob` returns them. */
export type TextFiles = Readonly<Record<string, () => Promise<unknown>>>

/**
 * The languages of the page. A host may request all 44 of the contract. A language without texts is shown in English and from
 * left to right: half a translation would be worse.
 */
export function createLanguages(files: TextFiles) {
  const fileOf = (tag: string) => files[`./${tag}.json`]
  const available = LOCALES.filter(({ tag }) => fileOf(tag) !== undefined)
  const find = (tag: string) => available.find((locale) => locale.tag === tag)

  return {
    /** Languages with texts, in the order of the contract. */
    available,
    /** The first requested tag that has texts. A tag may be spelled as any host or browser spells it. */
    choose(tags: readonly (string | null | undefined)[]): LocaleTag {
      for (const tag of tags) {
        const resolved = resolveLocale(tag ?? '')
        if (resolved.state === 'found' && find(resolved.tag)) return resolved.tag
      }
      return FALLBACK
    },
    async load(tag: LocaleTag): Promise<Texts> {
      const locale = find(tag) ?? find(FALLBACK)
      const file = locale && fileOf(locale.tag)
      if (!locale || !file) throw new Error(`There are no texts for ${tag}`)
      const messages = (await file()) as Messages // Our own file: a test checks that it is complete.
      const { name, direction } = locale
      return { tag: locale.tag, name, direction, t: createTranslate(messages, locale) }
    },
  }
}
export type Languages = ReturnType<typeof createLanguages>
