import type { JSX } from 'preact'
import { Still } from './parts/still.tsx'
import { WayOut } from './parts/way-out.tsx'
import type { ScreenProps } from './screen.ts'

export const LoadingScreen = ({ texts: { t } }: ScreenProps): JSX.Element => (
  <Still icon="level" mood="wait" title={t('loading.title')} text={t('loading.text')} />
)

/** The capture is being submitted. After a lost connection the page retries as long as the challenge is valid. */
export function SendingScreen({ view: { offline }, texts: { t } }: ScreenProps): JSX.Element {
  const text = t(offline ? 'sending.offline' : 'sending.text')
  return (
    <Still icon={offline ? 'cloudOff' : 'numbers'} mood="wait" role="status" title={t('sending.title')} text={text} />
  )
}

/** The flow is over. Only the host may show the result, so this screen is the same for everybody. */
export function DoneScreen(props: ScreenProps): JSX.Element {
  const { view, texts } = props
  const { t } = texts
  const first = view.brand ? t('done.text', { name: view.brand.name }) : t('done.textNobody')
  return (
    <Still icon="check" mood="done" title={t('done.title')} text={view.secondDevice ? t('done.second') : first}>
      <WayOut {...props} />
    </Still>
  )
}

/** The flow is over without a verdict. */
export function EndedScreen(props: ScreenProps): JSX.Element {
  const { view, texts, more } = props
  const { t } = texts
  const text = view.brand ? t('ended.text', { name: view.brand.name }) : t('ended.textNobody')
  return (
    <Still icon="pause" mood="alert" title={t('ended.title')} text={text}>
      {more}
      <WayOut {...props} />
    </Still>
  )
}

export function ExpiredScreen(props: ScreenProps): JSX.Element {
  const { t } = props.texts
  return (
    <Still icon="clock" mood="alert" title={t('expired.title')} text={t('expired.text')}>
      <WayOut {...props} />
    </Still>
  )
}

/** The user or the host cancelled. */
export function CancelledScreen(props: ScreenProps): JSX.Element {
  const { t } = props.texts
  return (
    <Still icon="pause" mood="alert" title={t('cancelled.title')} text={t('cancelled.text')}>
      <WayOut {...props} />
    </Still>
  )
}

export function DeclinedScreen(props: ScreenProps): JSX.Element {
  const { view, texts } = props
  const { t } = texts
  const text = view.brand ? t('declined.text', { name: view.brand.name }) : t('declined.textNobody')
  return (
    <Still icon="home" title={t('declined.title')} text={text}>
      <WayOut {...props} />
    </Still>
  )
}
