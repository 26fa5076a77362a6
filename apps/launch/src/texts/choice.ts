const KEY = 'ostiary-language'

/** What the user chose on this page before it was loaded again. Storage may be closed to a page: then nothing. */
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
    // It then lasts until the page is loaded again.
  }
}
