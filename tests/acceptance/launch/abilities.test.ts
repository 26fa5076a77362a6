import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostOf } from '@ostiary/testkit/browser/system'
import { checkVerdict, takeFaceCheck } from '@ostiary/testkit/browser/visit'
import { newVisitor, prepareCameraBrowser, WHOLE_FLOW } from '@ostiary/testkit/browser/visitors'

prepareCameraBrowser()
const host = hostOf('OSTIARY_TEST_KEY_ONE')

/** Each challenge begins with what the person cannot do. */
const PEOPLE = [
  {
    who: 'only blinks and comes closer',
    cannot: ['turn_left', 'turn_right', 'look_up'],
    challenge: ['turn_left', 'look_up', 'blink'],
    left: ['blink', 'closer'],
  },
  {
    who: 'cannot close their eyes',
    cannot: ['blink'],
    challenge: ['blink', 'turn_left', 'closer'],
    left: ['turn', 'up', 'closer'],
  },
]

for (const { who, cannot, challenge, left } of PEOPLE) {
  test(
    `a person who ${who} says so on the page and gets a verdict, and the result names what was left`,
    WHOLE_FLOW,
    async (t) => {
      const { visit, camera } = await newVisitor(t)
      const created = await host.create({ metadata: { __test: { challenge } } })
      await visit.open(created.launchUrl)
      const able = { ...visit, answer: (puppet: typeof camera) => visit.answer(puppet, cannot) }
      const tries = await takeFaceCheck(able, camera)
      await checkVerdict(visit, created)
      const { assurance } = await created.result()
      assert.deepEqual(assurance.movements, left)
      const asked = tries.at(-1) ?? []
      assert.ok(
        asked.some((movement) => !cannot.includes(movement)),
        String(asked),
      )
      assert.deepEqual(visit.faults, [])
    },
  )
}
