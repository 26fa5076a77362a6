import type { OpenedSession } from '@ostiary/contract'
import type { CreateVerification } from '../flow/verification-part.ts'
import { verificationTextsOf } from '../texts/verification-text-files.ts'
import { createVerification } from './part.ts'
import { createBrowserApis } from './real-browser-apis.ts'
import { SCREENS } from './screens/screens.ts'

/** Everything for ENROLL, SIGN-IN and VERIFY, in one file of the built page that age checks never load. */
export function setUpVerification(session: OpenedSession) {
  const create: CreateVerification = (link) => createVerification(link, createBrowserApis())
  return { create, screens: SCREENS, adaptTexts: verificationTextsOf(session) }
}
