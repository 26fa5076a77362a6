import * as codes from '@ostiary/contract/codes'
import type { JSX } from 'preact'
import type { View } from '../../flow/view.ts'
import { Emblem } from '../../screens/parts/emblem.tsx'
import type { IconName } from '../../screens/parts/icons.tsx'
import { Title } from '../../screens/parts/title.tsx'
import { WayOut } from '../../screens/parts/way-out.tsx'
import type { ScreenProps } from '../../screens/screen.ts'
import { EndedScreen } from '../../screens/still.tsx'
import { ownText, sendsTokens } from '../../texts/verification-texts.ts'

/**
 * The same for everybody, with two exceptions. A locked-out user sees that they must wait: another try now would fail. In sessions with tokens the
 * user sees what this device lacks, or that the key holder is away: that says nothing about a check.
 */
export function VerificationEnded(props: ScreenProps): JSX.Element {
  const { view } = props
  if (view.session?.errors.includes(codes.TEMPORARILY_LOCKED)) return <Locked {...props} />
  const reason = tokenEndOf(view)
  return reason ? <TokenEnd {...props} reason={reason} /> : <EndedScreen {...props} />
}

function Locked(props: ScreenProps): JSX.Element {
  const t = ownText(props.texts)
  return (
    <div class="screen screen--still" data-locked>
      <Emblem icon="clock" mood="alert" />
      <Title>{t('locked.title')}</Title>
      <p class="lead">{t('locked.text')}</p>
      <WayOut {...props} />
    </div>
  )
}

/** Each has a title and a text, `tokenEnd.<reason>`. */
const TOKEN_ENDS = {
  no_hint: 'key',
  key_holder: 'cloudOff',
  key_holder_pin: 'warning',
  token_key: 'warning',
  token_storage: 'key',
} as const satisfies Record<string, IconName>
export type TokenEndReason = keyof typeof TOKEN_ENDS

function tokenEndOf({ verification, session, endReason }: View): TokenEndReason | undefined {
  if (!sendsTokens({ verification })) return undefined
  if (endReason !== null && isTokenEnd(endReason)) return endReason
  // The service needs the key holder too, after the submit.
  return session?.errors.includes(codes.INTERNAL) ? 'key_holder' : undefined
}

function isTokenEnd(reason: string): reason is TokenEndReason {
  return Object.hasOwn(TOKEN_ENDS, reason)
}

function TokenEnd({ reason, ...props }: ScreenProps & { reason: TokenEndReason }): JSX.Element {
  const t = ownText(props.texts)
  return (
    <div class="screen screen--still" data-token-end={reason}>
      <Emblem icon={TOKEN_ENDS[reason]} mood="alert" />
      <Title>{t(`tokenEnd.${reason}.title`)}</Title>
      <p class="lead">{t(`tokenEnd.${reason}.text`)}</p>
      <WayOut {...props} />
    </div>
  )
}
