import type { OpenedSession } from '@ostiary/contract'
import type { Texts } from './languages.ts'
import type englishTokens from './token/en.json'
import { createTranslate, type Text, type TextKey, type Translate } from './translate.ts'
import type english from './verification/en.json'

/**
 * The texts of ENROLL, SIGN-IN and VERIFY: their own keys, and replacements for default texts. The key of a replacement is its
 * condition, a colon, and the replaced key: `SIGN-IN:welcome.title`.
 */
type FileKey = keyof typeof english
type TokenFileKey = keyof typeof englishTokens
export type VerificationKey = Exclude<FileKey | TokenFileKey, `${string}:${string}`>
/** With those of sessions that send tokens, where they are wanted: they replace what says that a vector is sent. */
export type VerificationMessages = Readonly<Record<FileKey, Text> & Partial<Record<TokenFileKey, Text>>>
export type TranslateOwn = ReturnType<typeof createTranslate<VerificationKey>>

export type Purpose = Pick<OpenedSession, 'type' | 'verification'>

/** Whether the page sends a token or a probe instead of the vector. */
export function sendsTokens({ verification }: Pick<Purpose, 'verification'>): boolean {
  return (verification?.templates ?? 'vector') !== 'vector'
}

/** The conditions of a session. The first one with a replacement wins. */
export function conditionsOf({ type, verification }: Purpose): string[] {
  const { sendImages = false, estimateAge = false, matching = 'server', templates, migrates } = verification ?? {}
  return [
    ...(migrates ? ['migrates'] : []),
    ...(sendImages && estimateAge ? ['selfie+age'] : []),
    ...(sendImages ? ['selfie'] : []),
    ...(estimateAge ? ['age'] : []),
    ...(matching === 'local_first' && type !== 'ENROLL' ? ['local'] : []),
    ...(templates === 'token_on_device' ? [`${type}+device`] : []),
    type,
    '*',
  ]
}

const own = new WeakMap<Texts, TranslateOwn>()

/** Adapts the default texts of a language to such a session. */
export function adaptTexts(texts: Texts, messages: VerificationMessages, purpose: Purpose): Texts {
  const table: Readonly<Record<string, Text | undefined>> = messages
  const conditions = conditionsOf(purpose)
  const standIn = (key: TextKey) => {
    const condition = conditions.find((name) => table[`${name}:${key}`] !== undefined)
    return condition === undefined ? undefined : table[`${condition}:${key}`]
  }
  const t: Translate = (key, values) => {
    const text = standIn(key)
    if (text === undefined) return texts.t(key, values)
    return createTranslate<string>({ [key]: text }, texts)(key, values)
  }
  const adapted = { ...texts, t }
  own.set(adapted, createTranslate<string>(table as Readonly<Record<string, Text>>, texts))
  return adapted
}

/** The texts that only such a session has. */
export function ownText(texts: Texts): TranslateOwn {
  const translate = own.get(texts)
  if (!translate) throw new Error('These texts are of an age check')
  return translate
}
