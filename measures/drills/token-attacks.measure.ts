/**
 * The review's attacks on the homomorphic token (docs/token.md) by those who need no service: a client that cheats, and an outsider who reaches
 * both services. API, key holder and devices run in processes of their own. A figure `control-…` shows that an attack is real, or that the
 * owner gets in: without it a refusal would prove nothing. What is `computed` was asked of nobody. 60 forged probes; --full: 1,200 of them.
 *
 * Tests attack as a matcher, as a key holder and as a writer of rows, and try the budgets. The numbers are those
 * of the review (19 to 26) and of the note (18):
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
import { cheatAsClient } from './token-client.ts'
import { tryFromOutside } from './token-outsider.ts'
import { openScene } from './token-scene.ts'

export const measure: Measure = async ({ full, say }) => {
  const scene = await openScene()
  say('the API and the key holder are up')
  try {
    return [...(await cheatAsClient(scene, { full, say })), ...(await tryFromOutside(scene, { say }))]
  } finally {
    await scene.close()
  }
}
