import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ScreenProps } from '../screen.ts'
import { Button } from './button.tsx'

/** How to leave an end screen: back to the host, automatically or by link, or close it if another device or page continues. */
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
  // A browser closes only windows that a page has opened. Otherwise a text asks the user to close it.
  if (closed) return <p class="small">{t('end.closeHint')}</p>
  // Another browser goes back to the host; `done` tells a second device so already.
  const goesOnElsewhere = view.session !== null && !view.embedded && !(view.secondDevice && view.state.at === 'done')
  return (
    <>
      {goesOnElsewhere && <p class="lead">{t('end.origin')}</p>}
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
    </>
  )
}
