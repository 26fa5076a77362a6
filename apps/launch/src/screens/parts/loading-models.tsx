import type { JSX } from 'preact'
import type { ScreenProps } from '../screen.ts'
import { Button } from './button.tsx'
import { megabytesText, offersOtherDevice, percentText, shareOf, timeText } from './load-texts.ts'

/** How much of the models is there, how long the rest takes, and, on a slow connection, the way to another device. */
export function LoadingModels({
  view,
  actions,
  texts: { t, tag },
}: Pick<ScreenProps, 'view' | 'actions' | 'texts'>): JSX.Element {
  const { loading, camera } = view
  const share = shareOf(loading)
  const seconds = loading?.secondsLeft ?? 0
  const size = megabytesText(loading?.totalBytes ?? 0, tag)
  return (
    <>
      <p class="prompt__text">{t('capture.load')}</p>
      <div
        class="bar-of-load"
        role="progressbar"
        aria-label={t('capture.load')}
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <span style={{ inlineSize: `${share * 100}%` }} />
      </div>
      <p class="small digits">
        {share < 1 ? t('capture.loadText', { percent: percentText(share, tag), size }) : t('capture.loaded')}{' '}
        {seconds > 0 && t('capture.timeLeft', { time: timeText(seconds, tag) })}
      </p>
      {!camera && <p class="small">{t('capture.cameraOff')}</p>}
      {offersOtherDevice(view) && (
        <>
          <p class="small">{t('capture.slow')}</p>
          <Button action="handoff-here" look="soft" onPress={actions.askHandoff}>
            {t('menu.handoff')}
          </Button>
        </>
      )}
    </>
  )
}
