import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { GUIDANCE } from '@ostiary/faces'
import { CAMERA_PROBLEMS } from '../camera/camera-types.ts'
import { SESSION_PROBLEMS, TIPS, VIEWER_STAGES } from '../flow/states.ts'
import { createLanguages, type TextFiles } from './languages.ts'
import { createTranslate, type Text } from './translate.ts'

type Table = Record<string, Text>
const folder = new URL('./', import.meta.url)
const read = (tag: string): Table => JSON.parse(readFileSync(new URL(`${tag}.json`, folder), 'utf8'))
const tags = readdirSync(folder).flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? [])
const english = read('en')
const files: TextFiles = Object.fromEntries(tags.map((tag) => [`./${tag}.json`, async () => read(tag)]))

for (const tag of tags) {
  const texts = read(tag)

  test(`${tag}: a user who waits for the connection reads only that the page keeps trying, and may leave it open`, () => {
    const [everywhere = '', sending = '', viewer = ''] = ['app.offline', 'sending.offline', 'viewer.text'].map((key) =>
      String(texts[key]),
    )
    assert.ok(sending.startsWith(everywhere), sending)
    assert.ok(viewer.startsWith(sending.slice(everywhere.length).trim()), 'asks to leave the page open')
  })
}

test('every code that a screen can show has its text', () => {
  const needed = [
    ...GUIDANCE.map((code) => `guidance.${code}`),
    ...CAMERA_PROBLEMS.flatMap((problem) => [`camera.${problem}.title`, `camera.${problem}.text`]),
    ...SESSION_PROBLEMS.flatMap((problem) => [`problem.${problem}.title`, `problem.${problem}.text`]),
    ...TIPS.map((tip) => `retry.${tip}`),
    ...VIEWER_STAGES.map((stage) => `viewer.${stage}`),
    ...['turn_left', 'turn_right', 'look_up', 'blink', 'closer'].map((movement) => `movement.${movement}`),
  ]
  assert.deepEqual(
    needed.filter((key) => !(key in english)),
    [],
  )
})

test('plural forms follow the language: Arabic has six', async () => {
  const { t } = await createLanguages(files).load('ar')
  const said = [0, 1, 2, 3, 11, 100].map((count) => t('ledger.sum', { count, size: 'x' }))
  assert.equal(new Set(said.map((text) => text.replaceAll(/\d+/g, ''))).size, 6)
})

test('a name keeps its own direction inside Arabic, and nothing is added to a text from left to right', () => {
  const messages = { ...english, 'end.back': 'to {name} {unknown}' } as never
  const rtl = createTranslate(messages, { tag: 'ar', direction: 'rtl' })
  const ltr = createTranslate(messages, { tag: 'de', direction: 'ltr' })
  assert.equal(rtl('end.back', { name: 'Shop' }), 'to \u2068Shop\u2069 {unknown}')
  assert.equal(ltr('end.back', { name: 'Shop' }), 'to Shop {unknown}')
})

test('numbers are formatted for the language', () => {
  const t = createTranslate(english as never, { tag: 'de', direction: 'ltr' })
  assert.equal(t('retry.left', { count: 1234 }), 'You have 1.234 more tries.')
})
