import type { MoreScreens } from '../../screens/screen.ts'
import { VerificationEnded } from './ended.tsx'
import { PasskeyScreen } from './passkey.tsx'
import { VerificationWelcome } from './welcome.tsx'

export const SCREENS: MoreScreens = {
  welcome: VerificationWelcome,
  passkey: PasskeyScreen,
  ended: VerificationEnded,
}
