import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Translate } from '../../texts/translate.ts'
import type { ScreenProps } from '../screen.ts'
import { Button } from './button.tsx'
import { Links } from './links.tsx'

/** How to leave an end screen, and the tenant's pages. */
export function WayOut(props: ScreenProps): JSX.Element {
  return (
    <>
      <Leave {...props} />
      <Links {...props} />
    </>
  )
}

/** Back to the host, automatically or by link, or close it if another device or page continues. */
function Leave({ view, actions, texts: { t } }: ScreenProps): JSX.Element {
  const [closed, setClosed] = useState(false)
  const redirectUrl = view.session?.redirectUrl ?? null
  if (!view.embedded && !view.secondDevice && redirectUrl !== null) {
    return (
      <div class="buttons">
        <a
          class="button button--main"
          data-action="continue"
          href={redirectUrl}
          onClick={(event) => {
            // With a key held the browser opens a new window, and this page stays.
            if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
            event.preventDefault()
            actions.leave()
          }}
        >
          {view.brand ? t('end.back', { name: view.brand.name }) : t('end.backNobody')}
        </a>
        <Stay stays={view.stays} onStay={actions.stay} t={t} />
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

/** Says that the page leaves by itself, or that it stays. The button keeps its place, so that nothing moves under a finger. */
function Stay({ stays, onStay, t }: { stays: boolean; onStay(): void; t: Translate }): JSX.Element {
  const text = useRef<HTMLParagraphElement>(null)
  const area = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The focus was on the button, which is no longer there.
    if (stays && area.current?.contains(document.activeElement)) text.current?.focus()
  }, [stays])
  return (
    <div class="stay" ref={area} data-stays={stays ? '' : undefined}>
      <p class="small" role="status" tabIndex={-1} ref={text}>
        {t(stays ? 'end.stays' : 'end.moment')}
      </p>
      <Button action="stay" onPress={onStay}>
        {t('end.stay')}
      </Button>
    </div>
  )
}
