import assert from 'node:assert/strict'
import { test } from 'node:test'
import english from '../../texts/en.json' with { type: 'json' }
import { createTranslate } from '../../texts/translate.ts'
import { downloadText, megabytesText, offersOtherDevice, shareOf, spokenShare, timeText } from './load-texts.ts'

const t = createTranslate(english, { tag: 'en', direction: 'ltr' })

test('sizes and times are whole numbers in the units of the language', () => {
  assert.equal(megabytesText(5_340_000, 'en'), '5.3 MB')
  assert.equal(megabytesText(17_900_000, 'de'), '18 MB')
  assert.equal(timeText(4, 'en'), '10 seconds')
  assert.equal(timeText(61, 'en'), '70 seconds')
  assert.equal(timeText(100, 'de'), '2 Minuten')
  assert.equal(timeText(355, 'en'), '6 minutes')
})

test('the first screen names the megabytes, and the minutes where they are many', () => {
  const said = (download: Parameters<typeof downloadText>[0]) => downloadText(download, t, 'en')
  assert.equal(said(null), undefined)
  assert.equal(said({ bytes: 0, later: false }), undefined, 'everything is in the cache')
  assert.match(said({ bytes: 17_900_000, later: false }) ?? '', /loads 18 MB of data, once\.$/)
  assert.match(said({ bytes: 17_900_000, seconds: 20, later: false }) ?? '', /once\.$/)
  assert.match(said({ bytes: 17_900_000, seconds: 358, later: false }) ?? '', /about 6 minutes\.$/)
  assert.match(said({ bytes: 17_900_000, later: true }) ?? '', /18 MB of data after you agree/)
})

test('a share is announced at each quarter', () => {
  assert.deepEqual([0.1, 0.25, 0.49, 0.5, 0.9, 1].map(spokenShare), [undefined, 0.25, 0.25, 0.5, 0.75, undefined])
  assert.equal(shareOf(null), 1)
  assert.equal(shareOf({ loadedBytes: 0, totalBytes: 0 }), 0, 'not known yet')
  assert.equal(shareOf({ loadedBytes: 0, totalBytes: 0, secondsLeft: 0 }), 1, 'all in the cache')
  assert.equal(shareOf({ loadedBytes: 1, totalBytes: 4 }), 0.25)
})

test('another device is offered while the download takes more than a minute, and only where there can be one', () => {
  const slow = { loadedBytes: 1, totalBytes: 9, secondsLeft: 61 }
  const view = { capture: null, loading: slow, mayHandOff: true, secondDevice: false }
  assert.equal(offersOtherDevice(view), true)
  assert.equal(offersOtherDevice({ ...view, loading: { ...slow, secondsLeft: 60 } }), false)
  assert.equal(offersOtherDevice({ ...view, loading: { loadedBytes: 1, totalBytes: 9 } }), false, 'not known yet')
  assert.equal(offersOtherDevice({ ...view, loading: null }), false)
  assert.equal(offersOtherDevice({ ...view, mayHandOff: false }), false)
  assert.equal(offersOtherDevice({ ...view, secondDevice: true }), false)
})
