/** Loads styles that only some screens need. Without them the screens still work, so a failure counts as loaded. */
export function addStyle(url: string): Promise<void> {
  return new Promise((resolve) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = new URL(url, document.baseURI).href
    link.onload = () => resolve()
    link.onerror = () => resolve()
    document.head.append(link)
  })
}
