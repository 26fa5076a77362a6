const KEY = 'ostiary-language'

/** The language that the user chose before a reload; null if the browser refuses storage. */
export function rememberedLanguage(): string | null {
  try {
    return sessionStorage.getItem(KEY)
  } catch {
    return null
  }
}

export function rememberLanguage(tag: string): void {
  try {
    sessionStorage.setItem(KEY, tag)
  } catch {
    // Without storage the choice lasts until the next reload.
  }
}
