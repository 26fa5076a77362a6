import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { type Mark, markOf, matters } from '../../flow/countdown.ts'
import type { ScreenProps } from '../screen.ts'
import { Countdown } from './countdown.tsx'
import { Icon } from './icons.tsx'

/** The remaining time, once it is short. It is announced when it begins to matter and again at one minute, not every second. */
export function TimeLeft({ view, actions, texts: { t, tag }, page }: ScreenProps): JSX.Element | null {
  const [asked, setAsked] = useState(false)
  const announced = useRef<{ mark: Mark; text: string } | null>(null)
  if (!view.session) return null
  return (
    <Countdown untilMs={Date.parse(view.session.expiresAt) - view.serverAheadMs} nowMs={page.nowMs} locale={tag}>
      {(time, seconds) => {
        const mark = markOf(seconds)
        const text = t('app.expires', { time })
        if (mark === null) announced.current = null
        else if (mark !== announced.current?.mark) announced.current = { mark, text }
        return (
          <>
            {matters(seconds) && (
              <div class="notice digits">
                <Icon name="clock" size={18} />
                <span>{text}</span>
                {view.mayExtend && (
                  <button
                    type="button"
                    class="chip"
                    data-action="extend"
                    onClick={() => {
                      setAsked(true)
                      actions.extend()
                    }}
                  >
                    {t('app.extend')}
                  </button>
                )}
              </div>
            )}
            <p class="unseen" role="status">
              {announced.current?.text ?? (asked ? t('app.extended') : '')}
            </p>
          </>
        )
      }}
    </Countdown>
  )
}
