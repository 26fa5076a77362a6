/**
 * The review's attacks on the homomorphic token (docs/token.md), by the roles that could try them, against the API, a key holder and devices
 * in processes of their own. Each role prints what it learned in bits, and what was accepted. A figure `control-…` shows that an attack is
 * real, or that the owner gets in: without it a refusal would prove nothing. What is `computed` was asked of nobody.
 * 60 forged probes; --full: 1,200 of them, and whole days of evaluations.
 *
 * The tests of the review (19 to 26) and of the note (18) that run with every change:
 *
 * | No. | What | Where |
 * |---|---|---|
 * | 18 | another format, model or token is refused | packages/token format.test.ts; server matcher/cheating.api.test.ts |
 * | 19 | a key holder's own probes: 0 evaluations without the device's signature, none after 3 attack events | server matcher/cheating.api.test.ts |
 * | 20 | a matcher's foreign score, norm and tests | packages/token attacks.test.ts, cheating.test.ts; key-holder cheating-matcher.api.test.ts |
 * | 21 | row write, row swap, old row | server matcher/rows.api.test.ts; key-holder evaluation.api.test.ts |
 * | 22 | evaluation 51, kill -9, 20 at once | server matcher/budget.api.test.ts; key-holder budget.api.test.ts, processes.api.test.ts |
 * | 23 | half-t with an even first number passes one W with 2^-2 | packages/token attacks.test.ts |
 * | 24 | the same probe gives the same bytes, and is evaluated once | packages/token token.test.ts; server matcher/budget.api.test.ts, cheating.api.test.ts |
 * | 25 | an enrolment gives four things and no key | packages/token token.test.ts |
 * | 26 | malformed and transparent probes are attack events | server matcher/cheating.api.test.ts; key-holder budget.api.test.ts |
 *
 * The review counts an odd norm as an attack. Here the norm is not doubled: one outside of 2 % around the length of honest vectors is.
 */
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { useUpBudgets } from './token-budget.ts'
import { cheatAsClient } from './token-client.ts'
import { cheatAsKeyHolder } from './token-key-holder.ts'
import { cheatAsMatcher } from './token-matcher.ts'
import { tryFromOutside } from './token-outsider.ts'
import { writeRows } from './token-row-writer.ts'
import { openScene } from './token-scene.ts'

export const measure: Measure = async ({ full, say }) => {
  const scene = await openScene()
  say('the API, the key holder and a relay between them are up')
  try {
    // One computes while the other waits for the deadline of the key holder. The others look at what the relay has seen.
    const first = await Promise.all([cheatAsClient(scene, { full, say }), cheatAsMatcher(scene, { say })])
    return [
      ...first.flat(),
      ...(await cheatAsKeyHolder(scene, { full, say })),
      ...(await writeRows(scene, { say })),
      ...(await tryFromOutside(scene, { say })),
      ...(await useUpBudgets(scene, { full, say })),
    ]
  } finally {
    await scene.close()
  }
}
