import { test } from 'node:test'
import { checkPersonWith } from '@ostiary/testkit/browser/abilities'
import { prepareCameraBrowser, WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'

prepareCameraBrowser()

// Others are in tests/acceptance/abilities.
test('a person who only blinks and comes closer gets a verdict, and the result names what was left', WHOLE_FLOW, (t) =>
  checkPersonWith(
    {
      cannot: ['turn_left', 'turn_right', 'look_up'],
      challenge: ['turn_left', 'look_up', 'blink'],
      left: ['blink', 'closer'],
    },
    t,
  ),
)
