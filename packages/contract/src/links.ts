/** One address for all languages, or one for each: keys are tags of `LOCALES`, and `default` for all others. */
export type UrlByLanguage = string | Readonly<Record<string, string>>

/** The address for a language: its own, that of its main language (`pt` for `pt-BR`), the default, or null. */
export function urlFor(urls: UrlByLanguage | null, tag: string): string | null {
  if (urls === null || typeof urls === 'string') return urls
  const keys = [tag, tag.split('-', 1)[0] ?? tag, 'default']
  const key = keys.find((name) => Object.hasOwn(urls, name))
  return key === undefined ? null : (urls[key] ?? null)
}
