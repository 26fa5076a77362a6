import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { hostOf } from './system.ts'
import { checkVerdict, takeFaceCheck } from './visit.ts'
import { newVisitor } from './visitors.ts'

export interface Abilities {
  /** The movements at which this person presses "I cannot do this". */
  cannot: readonly string[]
  /** What the first challenge asks for: it begins with what the person cannot do. */
  challenge: readonly string[]
  /** The kinds of movement that the result has to name. */
  left: readonly string[]
}

/** A person says on the page what they cannot do, gets a verdict, and the result names what was left. */
export async function checkPersonWith({ cannot, challenge, left }: Abilities, t: TestContext): Promise<void> {
  const { visit, camera } = await newVisitor(t)
  const created = await hostOf('OSTIARY_TEST_KEY_ONE').create({ metadata: { __test: { challenge } } })
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
}
