import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linksIn } from './links.ts'
import { createFlowFixture } from './testing/fixture.ts'

const URLS = { default: 'https://shop.example/privacy', ar: 'https://shop.example/ar' }

test('links are those of the language, and never anything but https', () => {
  const links = { alternative: 'https://shop.example/other', privacy: URLS, support: 'javascript:alert(1)' }
  assert.deepEqual(linksIn({ links }, 'ar'), {
    alternative: 'https://shop.example/other',
    privacy: 'https://shop.example/ar',
    support: null,
  })
  assert.equal(linksIn({ links }, 'de').privacy, 'https://shop.example/privacy')
})

test('a server of the last release gives the other way alone', () => {
  const alternativeUrl = 'https://shop.example/other'
  assert.deepEqual(linksIn({ alternativeUrl }, 'de'), { alternative: alternativeUrl, privacy: null, support: null })
  assert.deepEqual(linksIn({}, 'de'), { alternative: null, privacy: null, support: null })
})

test('the page shows the links of its language, and follows a change of it', async () => {
  const links = { alternative: null, privacy: URLS, support: { en: 'https://shop.example/help' } }
  const { flow, speak } = await createFlowFixture({ answers: { open: [{ links }] } })
  await flow.start()
  assert.deepEqual(flow.view().links, { alternative: null, privacy: 'https://shop.example/ar', support: null })
  speak('en')
  flow.languageChanged()
  assert.deepEqual(flow.view().links, {
    alternative: null,
    privacy: 'https://shop.example/privacy',
    support: 'https://shop.example/help',
  })
})
