import type { JSX } from 'preact'
import { Button } from '../../screens/parts/button.tsx'
import { Icon } from '../../screens/parts/icons.tsx'
import { Title } from '../../screens/parts/title.tsx'
import type { ScreenProps } from '../../screens/screen.ts'
import { documentText } from '../../texts/documents-texts.ts'
import { sentValues } from '../sent-values.ts'
import { OtherWay } from './other-way.tsx'

/** Everything that will be sent, value by value. Nothing leaves the device before the user agrees. */
export function ReviewScreen(props: ScreenProps): JSX.Element | null {
  const { view, actions, texts } = props
  const { document: shown } = view
  if (!shown?.toSend) return null
  const t = documentText(texts)
  const { doubt } = shown
  const send = (
    <Button action="document-send" look={doubt ? 'soft' : 'main'} onPress={() => actions.document({ do: 'send' })}>
      {t(doubt ? 'review.sendAnyway' : 'review.send')}
    </Button>
  )
  return (
    <div class="screen">
      <Title>{t('review.title')}</Title>
      <p class="lead">{t('review.text')}</p>
      {doubt && (
        <p class="how warning" role="alert">
          <Icon name="warning" size={22} />
          <span>{t(`review.${doubt}`)}</span>
        </p>
      )}
      <dl class="values">
        {sentValues(shown.toSend, shown.step, texts).map(({ name, label, value }) => (
          <div key={name} data-value={name}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="stays">
        <Icon name="home" size={20} />
        <span>{t('review.stays')}</span>
      </p>
      <div class={doubt ? 'buttons' : 'buttons buttons--stay'}>
        <p class="consent">{t('review.consent')}</p>
        {doubt && (
          <Button action="document-other" look="main" onPress={() => actions.document({ do: 'other' })}>
            {t('review.other')}
          </Button>
        )}
        {send}
        <Button action="document-again" onPress={() => actions.document({ do: 'again' })}>
          {t('review.again')}
        </Button>
        {doubt && <OtherWay {...props} />}
      </div>
    </div>
  )
}

/** What was sent about documents, for the list of what left this device. */
export function SentDocument({ view, texts }: Pick<ScreenProps, 'view' | 'texts'>): JSX.Element | null {
  const { document: shown } = view
  if (!shown || shown.sent.length === 0) return null
  const t = documentText(texts)
  return (
    <>
      {shown.sent.map((facts, index) => (
        <div key={index} data-sent-document>
          <dt>{t('ledger.title')}</dt>
          <dd class="sums__text">{t('ledger.text')}</dd>
          {sentValues(facts, shown.step, texts).map(({ name, label, value }) => (
            <dd key={name} class="sums__text">
              {label}: {value}
            </dd>
          ))}
        </div>
      ))}
    </>
  )
}
