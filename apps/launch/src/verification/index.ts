import type { OpenedSession } from '@ostiary/contract'
import type { CreateVerification } from '../flow/verification-part.ts'
import { verificationTextsOf } from '../texts/verification-text-files.ts'
import { sendsTokens } from '../texts/verification-texts.ts'
import { createVerification } from './part.ts'
import { createBrowserApis } from './real-browser-apis.ts'
import { SCREENS } from './screens/screens.ts'

/** Everything for ENROLL, SIGN-IN and VERIFY, in one file of the built page that age checks never load. Tokens are in files of their own. */
export async function setUpVerification(opened: OpenedSession) {
  const { createTokens, session } = sendsTokens(opened)
    ? await (await import('../homomorphic-token/index.ts')).setUpTokens(opened)
    : { createTokens: null, session: opened }
  const apis = createBrowserApis({ createTokens })
  const create: CreateVerification = (link) => createVerification({ ...link, opened: session }, apis)
  return { create, screens: SCREENS, adaptTexts: verificationTextsOf(session) }
}
