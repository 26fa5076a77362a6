import { LOCALES, type LocaleTag, resolveLocale } from '@ostiary/contract'
import { createTranslate, type Language, type Messages, type Translate } from './translate.ts'

const FALLBACK = 'en'

export interface Texts {
  tag: LocaleTag
  /** The language's own name. */
  name: string
  direction: Language['direction']
  t: Translate
}

/** How the texts of a language are had, by path of their file: `import.meta.glob` gives this. */
export type TextFiles = Readonly<Record<string, () => Promise<unknown>>>

/**
 * The languages of the page. All 44 of the contract can be asked for; those whose texts are not written yet are shown in
 * English, in English direction: half a translation would be worse.
 */
export function createLanguages(files: TextFiles) {
  const fileOf = (tag: string) => files[`./${tag}.json`]
  const available = LOCALES.filter(({ tag }) => fileOf(tag) !== undefined)
  const find = (tag: string) => available.find((locale) => locale.tag === tag)

  return {
    /** Those that have texts, in the order of the contract. */
    available,
    /** The first wish that can be met. A wish is any tag, as a host or a browser writes it. */
    choose(outputs: readonly (string | null | undefined)[]): LocaleTag {
      for (const wish of outputs) {
        const resolved = resolveLocale(wish ?? '')
        if (resolved.state === 'found' && find(resolved.tag)) return resolved.tag
      }
      return FALLBACK
    },
    async load(tag: LocaleTag): Promise<Texts> {
      const locale = find(tag) ?? find(FALLBACK)
      const file = locale && fileOf(locale.tag)
      if (!locale || !file) throw new Error(`There are no texts for ${tag}`)
      const messages = (await file()) as Messages // A file of ours: a test checks that it is complete.
      const { name, direction } = locale
      return { tag: locale.tag, name, direction, t: createTranslate(messages, locale) }
    },
  }
}
export type Languages = ReturnType<typeof createLanguages>
