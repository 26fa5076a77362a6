import type { Texts } from './languages.ts'
import { adaptTexts, type Purpose, type VerificationMessages } from './verification-texts.ts'

const files = import.meta.glob('./verification/*.json', { import: 'default' })

/** Loads a language's texts for such a session and adapts the default texts with them. */
export function verificationTextsOf(purpose: Purpose): (texts: Texts) => Promise<Texts> {
  return async (texts) => {
    const file = files[`./verification/${texts.tag}.json`]
    if (!file) throw new Error(`There are no texts for ${texts.tag}`)
    const messages = (await file()) as VerificationMessages // Our own file: a test checks that it is complete.
    return adaptTexts(texts, messages, purpose)
  }
}
