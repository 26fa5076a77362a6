import type { JSX } from 'preact'
import type { ScreenProps } from '../../screens/screen.ts'
import { documentText } from '../../texts/documents-texts.ts'

/** The host's other way, for users who have no such document or do not want to show it. */
export function OtherWay({ view, texts }: Pick<ScreenProps, 'view' | 'texts'>): JSX.Element | null {
  const url = view.document?.alternativeUrl
  // Setting `alternativeUrl` takes https addresses only; a link must never run a script.
  if (!url?.startsWith('https://')) return null
  const t = documentText(texts)
  return (
    <a class="button button--text" data-action="other-way" href={url} rel="noreferrer">
      {view.brand ? t('otherWay', { name: view.brand.name }) : t('otherWayNobody')}
    </a>
  )
}
