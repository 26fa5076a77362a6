import type { ListedEntity, ListedName } from './listed.ts'

/** Longer "names" are remarks in the wrong column. Their beginning is still enough to find the entry. */
export const MAX_TEXT_CHARS = 300
/**
 * The most aliased real entries have some 300 names. More than 500 would be an attempt to match everybody; the weakest
 * are left out first.
 */
export const MAX_NAMES = 500
const MAX_URL_CHARS = 2_000

const ALREADY_CLEAN = /^[!-~]+(?: [!-~]+)*$/
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u
const STRENGTH: Record<ListedName['kind'], number> = { name: 0, alias: 1, weak: 2 }

/** One form for one text: NFC, single blanks, no control characters, of a bounded length. */
export function cleanText(text: string): string {
  const clean = ALREADY_CLEAN.test(text)
    ? text
    : text
        .toWellFormed()
        .normalize('NFC')
        .replace(/[\s\p{Cc}]+/gu, ' ')
        .trim()
  if (clean.length <= MAX_TEXT_CHARS) return clean
  const cut = clean.slice(0, MAX_TEXT_CHARS)
  return (cut.isWellFormed() ? cut : cut.slice(0, -1)).trim()
}

/** Brings an imported entry into its final form. Null when it has no name, because such an entry matches no one. */
export function toListed(found: ListedEntity): ListedEntity | null {
  const names = cleanNames(found.names)
  if (names.length === 0) return null
  return {
    id: found.id,
    schema: found.schema,
    names,
    births: distinctBy(found.births, ({ from, to, circa }) => `${from}-${to}-${circa}`),
    countries: cleanAll(found.countries),
    topics: cleanAll(found.topics),
    programs: cleanAll(found.programs),
    sourceUrl: found.sourceUrl,
    datasets: cleanAll(found.datasets),
  }
}

/** The first address a reader may safely follow; lists also carry `javascript:` and plain words. */
export function firstWebAddress(texts: readonly string[]): string | null {
  const found = texts.map((text) => text.trim()).find((text) => /^https?:\/\/\S+$/i.test(text))
  return found !== undefined && found.length <= MAX_URL_CHARS ? found : null
}

/** The strongest kind of a text wins, so that a name is not weak because it is also listed as a weak alias. */
function cleanNames(names: readonly ListedName[]): ListedName[] {
  const ordered = names.toSorted((one, other) => STRENGTH[one.kind] - STRENGTH[other.kind])
  const clean = ordered
    .map(({ text, kind }) => ({ text: cleanText(text), kind }))
    .filter(({ text }) => LETTER_OR_DIGIT.test(text))
  return distinctBy(clean, ({ text }) => text).slice(0, MAX_NAMES)
}

function cleanAll(texts: readonly string[]): string[] {
  if (texts.length === 0) return []
  return [...new Set(texts.map(cleanText))].filter((text) => text !== '')
}

function distinctBy<T>(items: readonly T[], key: (item: T) => string): T[] {
  if (items.length < 2) return [...items]
  const seen = new Set<string>()
  return items.filter((item) => {
    const size = seen.size
    return seen.add(key(item)).size > size
  })
}
