import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ScreenProps } from '../screen.ts'
import { Button } from './button.tsx'

/** How an end screen is left: back to the host by itself or by link, or by closing where somebody else goes on. */
export function WayOut({ view, actions, texts: { t } }: ScreenProps): JSX.Element | null {
  const [closed, setClosed] = useState(false)
  const redirectUrl = view.session?.redirectUrl ?? null
  if (!view.embedded && !view.secondDevice && redirectUrl !== null) {
    return (
      <div class="buttons">
        <a class="button button--main" data-action="continue" href={redirectUrl}>
          {view.brand ? t('end.back', { name: view.brand.name }) : t('end.backNobody')}
        </a>
        <p class="small">{t('end.moment')}</p>
      </div>
    )
  }
  // A browser closes only what a page has opened: where it does not, the user is told to.
  if (closed) return <p class="small">{t('end.closeHint')}</p>
  return (
    <div class="buttons">
      <Button
        action="close-page"
        look="main"
        onPress={() => {
          setClosed(true)
          actions.closePage()
        }}
      >
        {t('end.close')}
      </Button>
    </div>
  )
}
