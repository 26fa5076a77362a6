import type { ComponentChildren, JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Asks } from './parts/asks.tsx'
import { Button } from './parts/button.tsx'
import { Coach } from './parts/coach.tsx'
import { ConsentPanel } from './parts/consent-panel.tsx'
import { Links } from './parts/links.tsx'
import { downloadText } from './parts/load-texts.ts'
import { Point } from './parts/point.tsx'
import { Title } from './parts/title.tsx'
import type { ScreenProps } from './screen.ts'

interface Props extends ScreenProps {
  /** A point before the others, and a replacement for the question, for sessions that are not age checks. */
  first?: ComponentChildren
  instead?: ComponentChildren
}

/** Who asks, what happens, what leaves the device and what does not, and the consent question. */
export function WelcomeScreen({ view, actions, texts, first, more, instead }: Props): JSX.Element {
  const { t, tag } = texts
  const end = useRef<HTMLDivElement>(null)
  const busy = view.state.at === 'welcome' && view.state.answering
  const [pressed, setPressed] = useState<boolean | null>(null)
  const answer = (accepted: boolean) => {
    setPressed(accepted)
    actions.consent(accepted)
  }
  const workingOn = (accepted: boolean) => (busy && pressed === accepted ? t('loading.title') : undefined)
  const agree = {
    text: t('welcome.agree'),
    readOn: t('welcome.readOn'),
    busy,
    working: workingOn(true),
    onPress: () => answer(true),
  }
  const named = useRef(view.download)
  // What was named stays when it has come: without that line the buttons would move under a finger.
  if (downloadText(view.download, t, tag) !== undefined) named.current = view.download
  const load = downloadText(named.current, t, tag)
  return (
    <div class="screen">
      <div class="hero">
        <Coach movement="rest" />
      </div>
      <Title>{t('welcome.title')}</Title>
      <Asks view={view} texts={texts} />
      <ul class="points">
        {first}
        <Point icon="camera" title={t('welcome.lookTitle')} text={t('welcome.lookText')} />
        <Point icon="home" title={t('welcome.stayTitle')} text={t('welcome.stayText')} />
        <Point icon="numbers" title={t('welcome.leaveTitle')} text={t('welcome.leaveText')} />
        {more}
      </ul>
      <div ref={end} />
      {load !== undefined && <p class="small">{load}</p>}
      {view.verification === null && <p class="small">{t('welcome.minor')}</p>}
      <Links view={view} texts={texts} />
      <ConsentPanel
        end={end}
        language={tag}
        agree={instead ? null : agree}
        decline={
          <Button action="decline" busy={busy} working={workingOn(false)} onPress={() => answer(false)}>
            {t('welcome.decline')}
          </Button>
        }
      >
        {instead ?? <p class="consent">{t('welcome.consent')}</p>}
      </ConsentPanel>
      <p class="unseen" role="status">
        {busy ? t('loading.title') : ''}
      </p>
    </div>
  )
}
