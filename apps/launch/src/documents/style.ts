import styleUrl from './style.css?url'

/** Loads the styles of the document step. Without them the screens still work, so a failure is not one of the step. */
export function addDocumentStyle(): Promise<void> {
  return new Promise((resolve) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = new URL(styleUrl, document.baseURI).href
    link.onload = () => resolve()
    link.onerror = () => resolve()
    document.head.append(link)
  })
}
