import type { JSX } from 'preact'
import { Button } from '../../screens/parts/button.tsx'
import { Icon } from '../../screens/parts/icons.tsx'
import { Still } from '../../screens/parts/still.tsx'
import { Title } from '../../screens/parts/title.tsx'
import type { ScreenProps } from '../../screens/screen.ts'
import { documentText } from '../../texts/documents-texts.ts'
import { choicesOf, LOADED_BYTES, megabytes } from '../offers.ts'
import { OtherWay } from './other-way.tsx'
import { CardIcon } from './pictures.tsx'

/** The service is asked what is wanted. */
export function WaitScreen({ texts }: ScreenProps): JSX.Element {
  const t = documentText(texts)
  return <Still icon="clock" mood="wait" role="status" title={t('wait.title')} text={t('wait.text')} />
}

/** This device does not hold the face that the portrait is compared with. */
export function LookScreen(props: ScreenProps & { isRepeated: boolean }): JSX.Element {
  const { actions, texts, isRepeated } = props
  const t = documentText(texts)
  return (
    <Still
      icon="person"
      title={t(isRepeated ? 'lookAgain.title' : 'look.title')}
      text={t(isRepeated ? 'lookAgain.text' : 'look.text')}
    >
      <p class="how">{t('look.noAge')}</p>
      <div class="buttons">
        <Button action="document-look" look="main" onPress={actions.startCamera}>
          {t('look.start')}
        </Button>
        <OtherWay {...props} />
      </div>
    </Still>
  )
}

/** Which documents count and which do not, before the camera opens. */
export function IntroScreen(props: ScreenProps): JSX.Element | null {
  const { view, actions, texts } = props
  if (!view.document) return null
  const t = documentText(texts)
  const choices = choicesOf(view.document.asked)
  const [small, large] = [LOADED_BYTES.passport, LOADED_BYTES.licence].map((bytes) => megabytes(bytes, texts.tag))
  const onlyPassport = choices.length === 1 && choices[0] === 'passport'
  return (
    <div class="screen">
      <Title>{t('intro.title')}</Title>
      <p class="lead">{t('intro.text')}</p>
      <section class="counts" aria-labelledby="counts">
        <h2 id="counts">{t('intro.counts')}</h2>
        <ul>
          {choices.map((choice) => (
            <li key={choice}>
              <CardIcon choice={choice} />
              <span>{t(`intro.${choice}`)}</span>
            </li>
          ))}
        </ul>
      </section>
      <section class="counts counts--not" aria-labelledby="counts-not">
        <h2 id="counts-not">{t('intro.countsNot')}</h2>
        <p>{t(onlyPassport ? 'intro.noneOfThese' : 'intro.countsNotText')}</p>
      </section>
      <p class="small">
        {choices.includes('licence')
          ? t('intro.load', { small: small ?? '', large: large ?? '' })
          : t('intro.loadSmall', { small: small ?? '' })}
      </p>
      <div class="buttons buttons--stay">
        <Button action="document-begin" look="main" onPress={() => actions.document({ do: 'begin' })}>
          {t('intro.go')}
        </Button>
        <OtherWay {...props} />
      </div>
    </div>
  )
}

export function ChooseScreen(props: ScreenProps): JSX.Element | null {
  const { view, actions, texts } = props
  if (!view.document) return null
  const t = documentText(texts)
  return (
    <div class="screen">
      <Title>{t('choose.title')}</Title>
      <ul class="choices">
        {choicesOf(view.document.asked).map((choice) => (
          <li key={choice}>
            <button
              type="button"
              class="choice"
              data-action={`document-${choice}`}
              onClick={() => actions.document({ do: 'choose', choice })}
            >
              <CardIcon choice={choice} />
              <span class="choice__words">
                <strong>{t(`choose.${choice}`)}</strong>
                <span>
                  {t(`choose.${choice}Text`)} · {t('choose.load', { size: megabytes(LOADED_BYTES[choice], texts.tag) })}
                </span>
              </span>
              <Icon name="chevron" size={18} />
            </button>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <OtherWay {...props} />
      </div>
    </div>
  )
}

/** A desktop offers the phone first: few webcams are sharp at a short distance. */
export function DeviceScreen(props: ScreenProps): JSX.Element {
  const { view, actions, texts } = props
  const t = documentText(texts)
  return (
    <Still icon="phone" title={t('device.title')} text={t('device.text')}>
      {view.document?.step?.match && <p class="how">{t('device.face')}</p>}
      <div class="buttons">
        <Button action="document-phone" look="main" onPress={actions.askHandoff}>
          {t('device.phone')}
        </Button>
        <Button action="document-here" look="soft" onPress={() => actions.document({ do: 'use_camera' })}>
          {t('device.here')}
        </Button>
        <OtherWay {...props} />
      </div>
    </Still>
  )
}
