import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { NO_FIREFOX } from '@ostiary/testkit/browser/firefox'
import { newFirefoxVisitor } from '@ostiary/testkit/browser/firefox-visit'
import { hostOf } from '@ostiary/testkit/browser/system'
import { faceCamera, prepareCameraBrowser, WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'
import { ROOT } from '@ostiary/testkit/run'
import { takeWholeFlow } from './whole-flow.ts'

prepareCameraBrowser()
const host = hostOf('OSTIARY_TEST_KEY_ONE')
/** Screenshots, for people to look at. */
const SHOTS = `${ROOT}.reports/browsers`

for (const { locale, direction } of [
  { locale: 'en', direction: 'ltr' },
  { locale: 'ar', direction: 'rtl' },
])
  test(`a face check in Firefox from the link to the verdict: ${locale}`, {
    ...WHOLE_FLOW,
    skip: NO_FIREFOX,
  }, async (t) => {
    const camera = await faceCamera(t)
    const { visit, tab } = await newFirefoxVisitor(t, camera)
    const created = await host.create({ locale })
    mkdirSync(SHOTS, { recursive: true })
    const look = async (screen: string) =>
      writeFileSync(`${SHOTS}/firefox-${locale}-${screen}.png`, await tab.screenshot())
    const times = await takeWholeFlow({ ...visit, open: tab.open }, { camera, created, look })
    console.log(`Firefox ${tab.version}, ${locale}: ${times}`)
    const shown = await tab.evaluate('[document.documentElement.lang, document.documentElement.dir]')
    assert.deepEqual(shown, [locale, direction])
    assert.deepEqual(tab.faults, [])
  })
