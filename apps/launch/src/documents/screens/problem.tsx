import * as codes from '@ostiary/contract/codes'
import type { JSX } from 'preact'
import { Button } from '../../screens/parts/button.tsx'
import { Emblem } from '../../screens/parts/emblem.tsx'
import { Icon, type IconName } from '../../screens/parts/icons.tsx'
import { Title } from '../../screens/parts/title.tsx'
import type { ScreenProps } from '../../screens/screen.ts'
import type { DocumentKey } from '../../texts/document-keys.ts'
import { documentText } from '../../texts/documents-texts.ts'
import type { DocumentProblem } from '../document-types.ts'
import { OtherWay } from './other-way.tsx'

interface Tip {
  icon: IconName
  text: DocumentKey
}

/** A document did not count. Every problem has its own words and a way out. */
export function DocumentProblemScreen(props: ScreenProps): JSX.Element | null {
  const { view, actions, texts } = props
  const problem = view.document?.problem
  if (!problem) return null
  const t = documentText(texts)
  const left = COSTS_NOTHING.includes(problem) ? null : view.document?.step?.attemptsLeft
  const another = ANOTHER.includes(problem)
  return (
    <div class="screen">
      <Emblem icon={ICONS[problem]} mood="alert" />
      <Title>{t(`problem.${problem}.title`)}</Title>
      <p class="lead">{t(`problem.${problem}.text`)}</p>
      <Tips tips={TIPS[problem] ?? []} {...props} />
      {left !== null && left !== undefined && <p class="small">{t('problem.left', { count: left })}</p>}
      <div class="buttons">
        {!another && (
          <Button action="document-again" look="main" onPress={() => actions.document({ do: 'again' })}>
            {t('problem.again')}
          </Button>
        )}
        {problem === 'other_face' && (
          <Button action="document-look" look="soft" onPress={actions.startCamera}>
            {t('light.face')}
          </Button>
        )}
        <Button
          action="document-other"
          look={another ? 'main' : 'text'}
          onPress={() => actions.document({ do: 'other' })}
        >
          {t('problem.other')}
        </Button>
        <OtherWay {...props} />
      </div>
    </div>
  )
}

/** The face and the portrait are almost alike enough: asked before a try counts. */
export function LightScreen(props: ScreenProps): JSX.Element {
  const { actions, texts } = props
  const t = documentText(texts)
  return (
    <div class="screen">
      <Emblem icon="light" />
      <Title>{t('light.title')}</Title>
      <p class="lead">{t('light.text')}</p>
      <Tips
        tips={[
          { icon: 'light', text: 'light.tipWindow' },
          { icon: 'again', text: 'light.tipGlare' },
          { icon: 'bare', text: 'light.tipBare' },
        ]}
        {...props}
      />
      <div class="buttons">
        <Button action="document-again" look="main" onPress={() => actions.document({ do: 'again' })}>
          {t('light.again')}
        </Button>
        <Button action="document-look" look="soft" onPress={actions.startCamera}>
          {t('light.face')}
        </Button>
        <Button action="document-go-on" onPress={() => actions.document({ do: 'go_on' })}>
          {t('light.goOn')}
        </Button>
        <OtherWay {...props} />
      </div>
    </div>
  )
}

/** For the end without a verdict: why the document step ended. The host's other way is among the links of the end screen. */
export function DocumentEnd({ view, texts }: Pick<ScreenProps, 'view' | 'texts'>): JSX.Element | null {
  const errors = view.session?.errors ?? []
  const t = documentText(texts)
  const why = errors.includes(codes.DOCUMENT_TAMPERED)
    ? 'ended.tampered'
    : errors.some((code) => USED_UP.includes(code))
      ? 'ended.used'
      : null
  return why && <p class="how">{t(why)}</p>
}

function Tips({ tips, texts }: Pick<ScreenProps, 'texts'> & { tips: readonly Tip[] }): JSX.Element | null {
  if (tips.length === 0) return null
  const t = documentText(texts)
  return (
    <ul class="tips">
      {tips.map(({ icon, text }) => (
        <li key={text}>
          <Icon name={icon} size={22} />
          <span>{t(text)}</span>
        </li>
      ))}
    </ul>
  )
}

const ICONS: Readonly<Record<DocumentProblem, IconName>> = {
  expired: 'clock',
  expired_lately: 'clock',
  unreadable: 'level',
  unsupported: 'hand',
  no_birth_date: 'numbers',
  other_face: 'person',
  screen: 'phone',
  not_loaded: 'cloudOff',
  neutral: 'again',
}

/** Another try with the same document cannot succeed. */
const ANOTHER: readonly DocumentProblem[] = ['expired', 'expired_lately', 'unsupported', 'no_birth_date']
const COSTS_NOTHING: readonly DocumentProblem[] = ['screen', 'not_loaded']

const TIPS: Readonly<Partial<Record<DocumentProblem, readonly Tip[]>>> = {
  unreadable: [
    { icon: 'light', text: 'problem.unreadable.tip1' },
    { icon: 'level', text: 'problem.unreadable.tip2' },
    { icon: 'hand', text: 'problem.unreadable.tip3' },
  ],
  other_face: [
    { icon: 'clock', text: 'problem.other_face.tip1' },
    { icon: 'bare', text: 'problem.other_face.tip2' },
    { icon: 'person', text: 'problem.other_face.tip3' },
    { icon: 'light', text: 'problem.other_face.tip4' },
  ],
}

/** The last try of the document step was one of these. */
const USED_UP: readonly number[] = [
  codes.FACE_NOT_MATCH,
  codes.DOCUMENT_EXPIRED,
  codes.DOCUMENT_UNREADABLE,
  codes.DOCUMENT_UNSUPPORTED,
  codes.DOB_NOT_FOUND,
]
