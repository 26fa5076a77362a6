import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { documentCamera, prepareDocumentBrowser } from '@ostiary/testkit/browser/document-visit'
import { NO_FIREFOX, startFirefox } from '@ostiary/testkit/browser/firefox'
import { hostOf } from '@ostiary/testkit/browser/system'
import { WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'
import { inventHolder, passportPage } from '@ostiary/testkit/samples/documents'

const year = new Date().getUTCFullYear()
const PASSPORT = passportPage(inventHolder({ birth: '1987-03-09', expiry: `${year + 5}-10-24` }), {
  portrait: 'baseline',
})
prepareDocumentBrowser([{ document: PASSPORT }])
const PICTURE_BYTES_MAX = 16 * 1024 * 1024
const host = hostOf('OSTIARY_TEST_KEY_ONE')

test('Firefox reads a passport', { ...WHOLE_FLOW, skip: NO_FIREFOX }, async (t) => {
  const camera = await documentCamera()
  await camera.hold({ document: PASSPORT })
  t.after(() => camera.show('rest'))
  const frame = ['-v', 'error', '-i', camera.file, '-frames:v', '1', '-f', 'image2pipe', '-c:v', 'png', '-']
  const picture = execFileSync('ffmpeg', frame, { maxBuffer: PICTURE_BYTES_MAX })
  const tab = await startFirefox()
  t.after(() => tab.stop())
  const created = await host.create({ requirements: ['identity_document'], ageThreshold: 18 })
  await tab.open(created.launchUrl)
  const press = async (action: string) => {
    await tab.waitFor(`the button ${action}`, `!!document.querySelector('[data-action="${action}"]:not([disabled])')`)
    await tab.evaluate(`document.querySelector('[data-action="${action}"]').click()`)
  }
  await tab.show(picture)
  // Nobody can agree before the end of the text was in view.
  const read = `(document.querySelector('[data-action="read-on"]')?.click(), !!document.querySelector('[data-action="consent"]'))`
  await tab.waitFor('the end of the text', read)
  for (const action of ['consent', 'document-begin', 'document-passport', 'document-here', 'document-send'])
    await press(action)
  const { sessionStatus, errors, document } = await created.ended()
  assert.deepEqual([sessionStatus, errors, document?.type], ['AGE_ABOVE_THRESHOLD', [], 'passport'])
})
