import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { CONSENT_VERSION, LOCALES, TEMPLATE_KINDS, VERIFICATION_TYPES, type VerificationFacts } from '@ostiary/contract'
import { TOKEN_FAILURES } from '@ostiary/device'
import { createTranslate, type Messages, type TextKey, valuesOf } from './translate.ts'
import { adaptTexts, conditionsOf, ownText, type Purpose, type VerificationMessages } from './verification-texts.ts'

type Table = Record<string, string>
const read = (path: string): Table => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
const TAGS = ['en', 'de', 'ar'] as const
const english = read('./token/en.json')
const plainEnglish = read('./en.json')

/** Every kind of session that sends tokens. */
const PURPOSES: Purpose[] = VERIFICATION_TYPES.flatMap((type) =>
  TEMPLATE_KINDS.filter((templates) => templates !== 'vector').flatMap((templates) =>
    (['server', 'local_first'] as const).flatMap((matching) =>
      [false, true].flatMap((sendImages) =>
        [false, true].map((estimateAge) => ({
          type,
          verification: { realm: 'r', version: 'FACE3_3', matching, sendImages, estimateAge, templates } as const,
        })),
      ),
    ),
  ),
)

function textsIn(tag: (typeof TAGS)[number], purpose: Purpose) {
  const direction = tag === 'ar' ? 'rtl' : 'ltr'
  const t = createTranslate(read(`./${tag}.json`) as unknown as Messages, { tag, direction })
  const messages = { ...read(`./verification/${tag}.json`), ...read(`./token/${tag}.json`) }
  return adaptTexts({ tag, name: tag, direction, t }, messages as unknown as VerificationMessages, purpose)
}

for (const tag of TAGS) {
  test(`${tag}: where tokens are sent, no text says that a vector is sent or kept`, () => {
    for (const purpose of PURPOSES) {
      const { t } = textsIn(tag, purpose)
      for (const key of Object.keys(plainEnglish) as TextKey[])
        assert.doesNotMatch(t(key), /vector|[Vv]ektor|متجه/, `${key} ${JSON.stringify(purpose)}`)
    }
  })
}

test('a replacement names an existing text and an existing condition, and has no more placeholders', () => {
  const known = new Set(['migrates', ...PURPOSES.flatMap((purpose) => conditionsOf(purpose))])
  for (const key of Object.keys(english).filter((name) => name.includes(':'))) {
    const [condition = '', replaced = ''] = key.split(':')
    assert.ok(known.has(condition), key)
    assert.ok(replaced in plainEnglish, key)
    assert.deepEqual(valuesOf(english[key] ?? ''), valuesOf(plainEnglish[replaced] ?? ''), key)
  }
})

test('every reason with which a device ends such a session has its text', () => {
  const ends = Object.values(TOKEN_FAILURES).filter(({ code }) => code !== TOKEN_FAILURES.refused.code)
  for (const { reason } of ends)
    for (const part of ['title', 'text']) assert.ok(`tokenEnd.${reason}.${part}` in english, reason)
})

test('the texts claim no more than the review of the token allows', () => {
  const all = Object.values(english).join(' ')
  assert.match(all, /Stored data of either service alone does not reveal/)
  assert.match(all, /Both together could read them/)
  assert.doesNotMatch(
    all,
    /zero.knowledge|quantum|impossible|irreversibl|anonym|wiped|constant time|neither|nobody can|revoc/i,
  )
})

test('the consent screen says what is kept where, and that a local hit may be enough', () => {
  const said = (key: TextKey, type: Purpose['type'], facts: Partial<VerificationFacts>) => {
    const verification = { ...PURPOSES[0]?.verification, templates: 'token', ...facts } as VerificationFacts
    return textsIn('en', { type, verification }).t(key)
  }
  const leave = (type: Purpose['type'], facts: Partial<VerificationFacts>) => said('welcome.leaveText', type, facts)
  const onDevice = { templates: 'token_on_device' } as const
  assert.match(leave('ENROLL', {}), /\. A key and a sealed copy of the numbers stay in this browser/)
  assert.match(leave('ENROLL', onDevice), /\. The token, a key and a sealed copy .* stay in this browser/)
  assert.match(said('welcome.consent', 'ENROLL', {}), /an encrypted token of it is kept so that/)
  assert.match(said('welcome.consent', 'ENROLL', onDevice), /an encrypted token of it is kept in this browser/)
  assert.match(leave('SIGN-IN', { matching: 'local_first' }), /only if recognition in this browser is not enough/)
  assert.doesNotMatch(leave('SIGN-IN', {}), /only if/)
})

test('where a stored vector is replaced by a token, the consent screen says that the vector is sent for the last time', () => {
  const [purpose = assert.fail()] = PURPOSES.filter(({ type }) => type === 'SIGN-IN')
  const verification = { ...purpose.verification, migrates: true } as VerificationFacts
  const { t } = textsIn('en', { ...purpose, verification })
  assert.match(t('welcome.leaveText'), /a feature vector of your face for the last time/)
  assert.match(t('welcome.consent'), /an encrypted token replaces the vector that is kept of you/)
  assert.match(t('ledger.submitText'), /feature vector/)
})

test('the texts of the token are only in sessions that load them', () => {
  const purpose = PURPOSES[0] ?? assert.fail()
  assert.equal(ownText(textsIn('en', purpose))('tokenTitle'), english.tokenTitle)
})

/** As for the other versions (verification-texts.test.ts): a changed text of the consent screen gets a new version. */
test('[D-053] the consent text of a session with tokens is bound to its version', () => {
  const isShown = (key: string) =>
    /(^|:)(welcome\.|selfieT|ageT|keptT|tokenT|passkeyT|passkey(Create|Get)Text)/.test(key)
  const tables = LOCALES.flatMap(({ tag }) =>
    ['', 'verification/', 'token/'].map((folder) => read(`./${folder}${tag}.json`)),
  )
  const shown = tables.map((table) => Object.entries(table).filter(([key]) => isShown(key)))
  const digest = createHash('sha256').update(JSON.stringify(shown)).digest('hex').slice(0, 16)
  assert.deepEqual({ [CONSENT_VERSION.token]: digest }, { 5: '29477c07a0863cc3' })
  for (const tag of TAGS) {
    for (const purpose of PURPOSES) assert.match(textsIn(tag, purpose).t('welcome.leaveText'), NAMES_CONDITIONS)
  }
})
const NAMES_CONDITIONS = /light, camera and how still|Licht, Kamera und wie ruhig|الإضاءة والكاميرا وثبات/
