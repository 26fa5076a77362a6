import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { CaptureView } from '../capture/capture-types.ts'
import { type Cue, cueBetween } from '../sound/cues.ts'
import { GuidanceSound } from '../sound/guidance-sound.tsx'
import type { Translate } from '../texts/translate.ts'
import { Alert } from './parts/alert.tsx'
import { Announcement } from './parts/announcement.tsx'
import { Button } from './parts/button.tsx'
import { CannotDoThis, MoreTime } from './parts/capture-choices.tsx'
import { Coach } from './parts/coach.tsx'
import { guidanceKey, politeText, urgentText } from './parts/heard.ts'
import { useLamp } from './parts/lamp.ts'
import { LoadingModels } from './parts/loading-models.tsx'
import { Title } from './parts/title.tsx'
import { Viewfinder } from './parts/viewfinder.tsx'
import type { ScreenProps } from './screen.ts'

const SEEN_MS = 60

/** Guides the face, asks for the movements, and shows the measuring. Everything important is shown, announced, and spoken on demand. */
export function CaptureScreen(props: ScreenProps): JSX.Element {
  const { view, actions, texts, page } = props
  const { t } = texts
  const { capture } = view
  const phase = capture?.phase ?? 'load'
  const seen = capture?.movementsSeen ?? 0
  const others = useRef<HTMLParagraphElement>(null)
  // A user with closed eyes cannot see the screen: the phone vibrates when the movement was seen.
  useEffect(() => {
    if (seen > 0 && navigator.userActivation?.hasBeenActive) navigator.vibrate?.(SEEN_MS)
  }, [seen])
  const asked = phase === 'challenge' ? (capture?.movement ?? null) : null
  const isReady = phase === 'challenge' && asked === null && seen === 0
  const lamp = useLamp(capture)
  const cue = useCue(capture)
  const urgent = urgentText(capture, t)
  const polite = politeText(view, texts)
  const hint = phase === 'find' && view.mayStartAnyway ? t('capture.startAnywayHint') : ''
  return (
    <div class="capture">
      <Title unseen>{t('capture.title')}</Title>
      <Viewfinder
        camera={view.camera}
        phase={phase}
        guidance={capture?.guidance ?? ''}
        movement={asked}
        progress={capture?.progress ?? 0}
        label={t('capture.preview')}
        preview={page.preview}
      />
      <div class="prompt">
        <Prompt {...props} lamp={lamp} />
        <div class="chips">
          {phase === 'challenge' && (
            <CannotDoThis {...props} movement={asked} onAnother={() => others.current?.focus()} />
          )}
          <GuidanceSound
            text={urgent || [polite, hint].filter(Boolean).join('. ')}
            isUrgent={urgent !== ''}
            cue={cue}
            texts={texts}
            nowMs={page.nowMs}
            // A sentence takes longer to hear than to read. A challenge that has begun keeps its times.
            onOn={() => phase !== 'challenge' && !view.moreTime && actions.askMoreTime()}
          />
          {(phase === 'find' || isReady) && <MoreTime {...props} />}
        </div>
        <p class="small" role="status" tabIndex={-1} ref={others}>
          {phase === 'find' && view.cannot.length > 0 && t('cannot.others')}
        </p>
      </div>
      <Announcement text={polite} nowMs={page.nowMs} />
      <p class="unseen" role="status">
        {hint}
      </p>
      <Alert text={urgent} />
    </div>
  )
}

/** What to do now, in large letters. */
function Prompt(props: ScreenProps & { lamp: boolean }): JSX.Element {
  const { view, actions, lamp } = props
  const { t } = props.texts
  const { capture } = view
  if (!capture) return <LoadingModels {...props} />
  if (capture.phase === 'challenge') return <Movements capture={capture} t={t} />
  if (capture.phase === 'measure') {
    return (
      <>
        <p class="prompt__text">{t('capture.measure')}</p>
        <p class="small">{t('capture.measureText')}</p>
      </>
    )
  }
  return (
    <>
      <p class="prompt__text">{t(guidanceKey(capture))}</p>
      {lamp && <p class="small prompt__lamp">{t('capture.lamp')}</p>}
      {view.mayStartAnyway && (
        <Button action="start-anyway" look="soft" onPress={actions.startAnyway}>
          {t('capture.startAnyway')}
        </Button>
      )}
    </>
  )
}

/** The tone of the last change. */
function useCue(capture: CaptureView | null): { kind: Cue } | null {
  const before = useRef<CaptureView | null>(null)
  const cue = useRef<{ kind: Cue } | null>(null)
  const kind = cueBetween(before.current, capture)
  before.current = capture
  if (kind) cue.current = { kind }
  return cue.current
}

function Movements({ capture, t }: { capture: CaptureView; t: Translate }): JSX.Element {
  const { movement, movementsSeen, movementsTotal } = capture
  return (
    <>
      {movement ? (
        <div class="prompt__row">
          <Coach movement={movement} />
          <p class="prompt__text">{t(`movement.${movement}`)}</p>
        </div>
      ) : (
        <p class="prompt__text">{t(movementsSeen > 0 ? 'capture.back' : 'capture.ready')}</p>
      )}
      <div class="dots" aria-hidden="true">
        {Array.from({ length: movementsTotal }, (_, index) => (
          <span
            key={index}
            class={index < movementsSeen ? 'is-seen' : index === movementsSeen ? 'is-now' : undefined}
          />
        ))}
      </div>
    </>
  )
}
