import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostOf } from '@ostiary/testkit/browser/system'
import type { Visit } from '@ostiary/testkit/browser/visit'
import { newVisitorWithoutCamera } from '@ostiary/testkit/browser/visitors'

const host = hostOf('OSTIARY_TEST_KEY_ONE')

async function languageOf({ page }: Visit): Promise<string> {
  const html = page.locator('html')
  return `${await html.getAttribute('lang')} ${await html.getAttribute('dir')}`
}

for (const { locale, shown, letters } of [
  { locale: 'de', shown: 'de ltr', letters: /[äöüß]/ },
  { locale: 'ar', shown: 'ar rtl', letters: /\p{Script=Arabic}{3}/u },
]) {
  test(`[C-015] a session with locale ${locale} is shown in it, whatever the browser prefers`, async (t) => {
    const { visit } = await newVisitorWithoutCamera(t, { context: { locale: 'en-GB' } })
    await visit.open((await host.create({ locale })).launchUrl)
    await visit.screen(['welcome'])
    await visit.page.locator(`html[lang="${shown.split(' ')[0]}"]`).waitFor()
    assert.equal(await languageOf(visit), shown)
    assert.match(await visit.page.locator('main').innerText(), letters)
  })
}

test('[C-015] without a locale the browser’s language is taken, and the user may choose another', async (t) => {
  const { visit } = await newVisitorWithoutCamera(t, { context: { locale: 'de-DE' } })
  await visit.open((await host.create()).launchUrl)
  await visit.screen(['welcome'])
  await visit.page.locator('html[lang="de"]').waitFor()
  assert.equal(await languageOf(visit), 'de ltr')
  await visit.act('language')
  await visit.page.locator('[data-action="language-search"]').fill('arab')
  await visit.page.locator('[data-language="ar"]').click()
  await visit.page.locator('html[dir="rtl"]').waitFor()
  assert.equal(await languageOf(visit), 'ar rtl')
})

test('[C-015] the record of consent names the language in which the question was shown', async (t) => {
  const { visit } = await newVisitorWithoutCamera(t, { context: { locale: 'en-GB' } })
  const created = await host.create({ locale: 'pl' })
  await visit.open(created.launchUrl)
  await visit.screen(['welcome'])
  await visit.act('consent')
  await visit.attributeIs('data-status', 'not_found')
  assert.equal((await created.result()).consent?.language, 'pl')
})
