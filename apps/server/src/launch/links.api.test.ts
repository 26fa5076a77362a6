import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLaunchFixture } from './testing/fixture.ts'
import { createPage } from './testing/page.ts'

const fixture = await createLaunchFixture()

const open = async (body: object = {}) => {
  const { sessionId } = await fixture.create(body)
  return (await createPage(fixture, sessionId)).open()
}

test('the page gets the tenant’s links in all languages, and pages of the last release the other way in the session’s', async () => {
  const alternativeUrl = { default: 'https://shop.example/other', de: 'https://shop.example/anders' }
  const privacyUrl = 'https://shop.example/privacy'
  await fixture.withSettings({ alternativeUrl, privacyUrl }, async () => {
    const german = await open({ locale: 'de' })
    assert.deepEqual(german.links, { alternative: alternativeUrl, privacy: privacyUrl, support: null })
    assert.equal(german.alternativeUrl, 'https://shop.example/anders')
    assert.equal((await open({ locale: 'ar' })).alternativeUrl, 'https://shop.example/other')
  })
})

test('one URL, as the last release has stored it, is for every language', async () => {
  await fixture.withSettings({ alternativeUrl: 'https://shop.example/other' }, async () => {
    const opened = await open({ locale: 'de' })
    assert.equal(opened.alternativeUrl, 'https://shop.example/other')
    assert.deepEqual(opened.links, { alternative: 'https://shop.example/other', privacy: null, support: null })
  })
})
