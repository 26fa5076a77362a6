import type { JSX } from 'preact'
import type { ScreenProps } from '../../screens/screen.ts'

/** The host's other way, for users who have no such document or do not want to show it. */
export function OtherWay({ view, texts: { t } }: Pick<ScreenProps, 'view' | 'texts'>): JSX.Element | null {
  const { alternative } = view.links
  if (!alternative) return null
  return (
    <a class="button button--text" data-action="other-way" href={alternative} rel="noreferrer">
      {view.brand ? t('link.alternativeAt', { name: view.brand.name }) : t('link.alternative')}
    </a>
  )
}
