import keys from 'virtual:text-keys/verification/'
import type { Texts } from './languages.ts'
import { named } from './named.ts'
import { adaptTexts, type Purpose, sendsTokens, type VerificationMessages } from './verification-texts.ts'

const files = named(import.meta.glob('./verification/*.json', { import: 'default' }), async () => keys)
/** Only sessions that send tokens load them. */
const tokenFiles = named(import.meta.glob('./token/*.json', { import: 'default' }), async () => {
  const { default: tokenKeys } = await import('virtual:text-keys/token/')
  return tokenKeys
})

/** Loads a language's texts for such a session and adapts the default texts with them. */
export function verificationTextsOf(purpose: Purpose): (texts: Texts) => Promise<Texts> {
  return async (texts) => {
    const file = files[`./verification/${texts.tag}.json`]
    const tokenFile = sendsTokens(purpose) ? tokenFiles[`./token/${texts.tag}.json`] : async () => ({})
    if (!file || !tokenFile) throw new Error(`There are no texts for ${texts.tag}`)
    const [own, more] = await Promise.all([file(), tokenFile()])
    const messages = Object.assign({}, own, more) as VerificationMessages // Our own files: a test checks that they are complete.
    return adaptTexts(texts, messages, purpose)
  }
}
