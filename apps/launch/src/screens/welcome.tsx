import type { JSX } from 'preact'
import type { Translate } from '../texts/translate.ts'
import { Button } from './parts/button.tsx'
import { Coach } from './parts/coach.tsx'
import { Icon, type IconName } from './parts/icons.tsx'
import { Title } from './parts/title.tsx'
import type { ScreenProps } from './screen.ts'

/** Who asks, what happens, what leaves the device and what does not, and the question itself. */
export function WelcomeScreen({ view, actions, texts: { t } }: ScreenProps): JSX.Element {
  const busy = view.state.at === 'welcome' && view.state.answering
  return (
    <div class="screen">
      <div class="hero">
        <Coach movement="rest" />
      </div>
      <Title>{t('welcome.title')}</Title>
      <p class="lead">{view.brand ? t('welcome.asks', { name: view.brand.name }) : t('welcome.asksNobody')}</p>
      <ul class="points">
        <Point icon="camera" title="welcome.lookTitle" text="welcome.lookText" t={t} />
        <Point icon="home" title="welcome.stayTitle" text="welcome.stayText" t={t} />
        <Point icon="numbers" title="welcome.leaveTitle" text="welcome.leaveText" t={t} />
      </ul>
      <div class="buttons buttons--stay">
        <p class="consent">{t('welcome.consent')}</p>
        <Button action="consent" look="main" busy={busy} onPress={() => actions.consent(true)}>
          {t('welcome.agree')}
        </Button>
        <Button action="decline" busy={busy} onPress={() => actions.consent(false)}>
          {t('welcome.decline')}
        </Button>
      </div>
    </div>
  )
}

interface PointProps {
  icon: IconName
  title: 'welcome.lookTitle' | 'welcome.stayTitle' | 'welcome.leaveTitle'
  text: 'welcome.lookText' | 'welcome.stayText' | 'welcome.leaveText'
  t: Translate
}

function Point({ icon, title, text, t }: PointProps): JSX.Element {
  return (
    <li>
      <span class="point__icon">
        <Icon name={icon} size={22} />
      </span>
      <h2>{t(title)}</h2>
      <p>{t(text)}</p>
    </li>
  )
}
