import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterCall, isInTime, learnTime } from './device-clock.ts'

const START_SECONDS = 1_800_000_000
const at = (seconds: number) => new Date((START_SECONDS + seconds) * 1000)

for (const aheadSeconds of [0, 5, -7_200, 86_400 * 365])
  test(`a clock that is wrong by ${aheadSeconds} s and steady passes, 60 s either way and no further`, () => {
    const time = learnTime(START_SECONDS + aheadSeconds, at(0))
    const shown = START_SECONDS + aheadSeconds
    for (const off of [0, 1, 60, -60]) assert.equal(isInTime(time, shown + 900 + off, at(900)), true, `${off}`)
    for (const off of [61, -61, 3_600, -3_600])
      assert.equal(isInTime(time, shown + 900 + off, at(900)), false, `${off}`)
  })

test('a clock never goes back by more than 60 s from the latest call, and drifts nowhere in small steps', () => {
  let time = learnTime(START_SECONDS, at(0))
  time = afterCall(time, START_SECONDS + 60)
  assert.equal(isInTime(time, START_SECONDS, at(0)), true)
  assert.equal(isInTime(time, START_SECONDS - 1, at(0)), false, 'within the drift, and 61 s behind the latest call')
  assert.equal(
    isInTime(afterCall(time, START_SECONDS), START_SECONDS - 1, at(0)),
    false,
    'an older call changes nothing',
  )
  assert.equal(isInTime(time, START_SECONDS + 61, at(0)), false, 'measured from the first call, not from the latest')
})
