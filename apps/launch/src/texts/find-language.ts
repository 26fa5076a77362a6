import type { Locale } from '@ostiary/contract/locales'
import { firstOf } from './languages.ts'

/**
 * The languages whose own name, English name, tag, or name in the language that is shown contains what was typed. Accents and case do not
 * matter. Those that begin with it come first.
 */
export function findLanguages<L extends Pick<Locale, 'tag' | 'name' | 'english'>>(
  languages: readonly L[],
  typed: string,
  shown: string,
): readonly L[] {
  const wanted = plain(typed.trim())
  if (wanted === '') return languages
  const local = new Intl.DisplayNames(shown, { type: 'language' })
  const namesOf = ({ tag, name, english }: L) => [name, english, tag, local.of(tag) ?? ''].map(plain)
  const found = languages.filter((language) => namesOf(language).some((name) => name.includes(wanted)))
  const begins = (language: L) => namesOf(language).some((name) => name.startsWith(wanted))
  return [...found.filter(begins), ...found.filter((language) => !begins(language))]
}

const plain = (text: string) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()

/** The user's own languages first, in their order, and the others by their own names, as the language that is shown sorts them. */
export function inOrderOfUse<L extends Pick<Locale, 'tag' | 'name'>>(
  languages: readonly L[],
  preferred: readonly string[],
  shown: string,
): readonly L[] {
  const first = [shown, ...preferred].map((tag) => firstOf([tag]))
  const rank = ({ tag }: L) => (first.includes(tag) ? first.indexOf(tag) : first.length)
  const { compare } = new Intl.Collator(shown)
  return languages.toSorted((a, b) => rank(a) - rank(b) || compare(a.name, b.name))
}
