import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Look } from './look.ts'
import { type Failing, judgeReadiness } from './readiness.ts'

/** What is ready after each look, one `everyMs` after the other. A statement is answered at `answeredMs`. */
function readyAfter(looks: readonly Look[], { everyMs = 1_000, answeredMs = -1, isUp = false } = {}): boolean[] {
  let failing: Failing | undefined
  return looks.map((look, index) => {
    const nowMs = index * everyMs
    const judged = judgeReadiness(look, failing, { nowMs, answeredMs: answeredMs <= nowMs ? answeredMs : -1, isUp })
    failing = judged.failing
    return judged.isReady
  })
}

test('[X3] a slow or unreachable database takes readiness away after three looks in a row', () => {
  assert.deepEqual(readyAfter(['slow', 'slow', 'slow', 'ok', 'slow']), [true, true, false, true, true])
  assert.deepEqual(readyAfter(['unreachable', 'slow', 'unreachable']), [true, true, false])
  assert.deepEqual(readyAfter(['slow', 'slow', 'ok', 'slow', 'slow']), [true, true, true, true, true])
})

test('[X3] or after five seconds, however rarely somebody looks', () => {
  assert.deepEqual(readyAfter(['slow', 'slow'], { everyMs: 5_000 }), [true, false])
  assert.deepEqual(readyAfter(['slow', 'slow'], { everyMs: 4_900 }), [true, true])
})

test('[X3] a database that answers statements between the looks is slow and stays', () => {
  const looks: Look[] = ['slow', 'slow', 'slow', 'slow']
  assert.deepEqual(readyAfter(looks, { answeredMs: 1_500 }), [true, true, true, true])
})

test('[O1] [O2] a database that says why it stores nothing takes readiness away at once', () => {
  for (const outage of ['refused', 'read-only', 'standby', 'unreplicated', 'full'] as const)
    assert.deepEqual(readyAfter([outage, 'ok']), [false, true], outage)
})

test('[O1] one that refuses new logins keeps it while connections that were made before go on', () => {
  assert.deepEqual(readyAfter(['refused', 'refused'], { isUp: true }), [true, true])
  assert.deepEqual(readyAfter(['read-only'], { isUp: true }), [false])
})
