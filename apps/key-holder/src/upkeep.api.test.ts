/** What happens to stored shares: purge, erasure, reseal; and the deadline of every answer. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { KEY_HOLDER_LIMITS } from '@ostiary/contract'
import { parseMasterKeys } from '@ostiary/service-kit/sealing'
import { judge } from '@ostiary/token'
import { loadConfig } from './config.ts'
import { createKeyVault } from './platform/key-vault.ts'
import { createLog } from './platform/log.ts'
import { reseal } from './reseal.ts'
import { createCaller } from './testing/caller.ts'
import { createSubject, evaluateFace, newId, type Subject } from './testing/device.ts'
import { faceOf } from './testing/faces.ts'
import { createHarness } from './testing/harness.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from './testing/manual-clock.ts'
import { createWire, openStore } from './wire.ts'

const face = faceOf(31)
let judgeMs = 0
const harness = await createHarness({
  judge: async (input) => {
    harness.clock.advance(judgeMs)
    return judge(input)
  },
})
after(() => harness.close())

async function enrolled(given: { realm?: string; account?: string } = {}): Promise<Subject> {
  const person = await createSubject(face, given)
  await harness.caller.enrolPerson(person, face)
  return person
}

const rowsOf = async (table: string, { realm }: { realm: string }) =>
  Number((await harness.query(`select count(*) from ${table} where realm = $1`, [realm])).rows[0].count)

describe('a purge deletes', () => {
  test('a pending share after an hour, and no confirmed one', async () => {
    const kept = await enrolled()
    const pending = await createSubject(face)
    await harness.caller.enrol(pending, await evaluateFace(pending, face, { isEnrolment: true }))
    harness.clock.advance(HOUR_MS - 2 * SECOND_MS)
    await harness.purge()
    assert.equal(await rowsOf('key_shares', pending), 1)
    harness.clock.advance(2 * SECOND_MS)
    assert.equal(await harness.caller.confirm(pending), false, 'it is past its time')
    const before = await harness.metric('pending_purged_total')
    await harness.purge()
    assert.deepEqual([await rowsOf('key_shares', pending), await rowsOf('key_shares', kept)], [0, 1])
    assert.equal(await harness.metric('pending_purged_total'), before + 1)
    assert.equal(await rowsOf('persons', pending), 0, 'nothing is left of a person who never enrolled')
  })

  test('nonces, verdicts and request ids that have expired', async () => {
    const person = await enrolled()
    await harness.caller.nonceFor(person)
    await harness.caller.compare(person, await evaluateFace(person, face))
    await harness.purge()
    assert.deepEqual([await rowsOf('nonces', person), await rowsOf('verdicts', person)], [1, 1])
    harness.clock.advance(HOUR_MS)
    await harness.purge()
    for (const table of ['nonces', 'verdicts', 'request_ids'])
      assert.equal((await harness.query(`select from ${table}`)).rowCount, 0, table)
  })

  test('failures of a person without a token when they no longer count', async () => {
    const person = await enrolled()
    await harness.caller.compare(person, await evaluateFace(person, faceOf(32)))
    await harness.caller.ask('/v1/erasures', { realm: person.realm, tokenId: person.tokenId })
    harness.clock.advance(29 * DAY_MS)
    await harness.purge()
    assert.equal(await rowsOf('persons', person), 1)
    harness.clock.advance(DAY_MS)
    await harness.purge()
    assert.equal(await rowsOf('persons', person), 0)
  })
})

describe('an erasure', () => {
  const erase = (body: object) => harness.caller.ask('/v1/erasures', body)

  test('by token deletes that token alone, and can be repeated', async () => {
    const { realm, account, tokenId } = await enrolled()
    const second = await enrolled({ realm, account })
    const before = await harness.metric('erased_shares_total')
    assert.deepEqual(await erase({ realm: newId(), tokenId }), { erased: 0 })
    assert.deepEqual(await erase({ realm, tokenId }), { erased: 1 })
    assert.deepEqual(await erase({ realm, tokenId }), { erased: 0 })
    assert.equal(await harness.metric('erased_shares_total'), before + 1)
    assert.equal(await harness.caller.compare(second, await evaluateFace(second, face)), 'accept')
  })

  test('by account deletes every row about the person', async () => {
    const person = await enrolled()
    const { realm, account } = person
    const second = await enrolled({ realm, account })
    await harness.caller.compare(second, await evaluateFace(second, faceOf(33)))
    const bystander = await enrolled({ realm })
    assert.deepEqual(await erase({ realm, account }), { erased: 2 })
    assert.deepEqual(await erase({ realm, account }), { erased: 0 })
    for (const table of ['key_shares', 'persons', 'verdicts']) {
      const { rowCount } = await harness.query(`select from ${table} where account = $1`, [account])
      assert.equal(rowCount, 0, table)
    }
    assert.equal(await harness.caller.compare(person, await evaluateFace(person, face)), 'reject')
    assert.equal(await harness.caller.compare(bystander, await evaluateFace(bystander, face)), 'accept')
  })
})

describe('the deadline', () => {
  const { deadlineMs } = KEY_HOLDER_LIMITS
  const tookMs = async (work: () => Promise<unknown>): Promise<number> => {
    const started = harness.clock.monotonicMs()
    await work()
    return harness.clock.monotonicMs() - started
  }

  test('is the same for accept, reject, an unknown token and a broken frame', async () => {
    const person = await enrolled()
    const [genuine, other] = [await evaluateFace(person, face), await evaluateFace(person, faceOf(34))]
    judgeMs = 40
    for (const work of [
      () => harness.caller.compare(person, genuine),
      () => harness.caller.compare(person, other),
      () => harness.caller.compare({ ...person, tokenId: newId() }, genuine),
      () => harness.caller.call('POST', '/v1/evaluations', Buffer.from('no frame')),
    ])
      assert.equal(await tookMs(work), deadlineMs)
    judgeMs = 0
  })

  test('of a slow answer is the next multiple', async () => {
    const person = await enrolled()
    const genuine = await evaluateFace(person, face)
    for (const [ms, multiple] of [
      [deadlineMs, 1],
      [deadlineMs + 1, 2],
      [3 * deadlineMs - 10, 3],
    ] as const) {
      judgeMs = ms
      assert.equal(await tookMs(() => harness.caller.compare(person, genuine)), multiple * deadlineMs)
    }
    judgeMs = 0
  })
})

test('a new master key seals what is new, opens what is old, and after a reseal the old one is not needed', async () => {
  const person = await enrolled()
  const genuine = await evaluateFace(person, face)
  const oldKey = harness.env.MASTER_KEY ?? ''
  const newKey = randomBytes(32).toString('base64')
  const both = createKeyVault(parseMasterKeys(`${newKey}\n${oldKey}`))
  const shares = (await harness.query('select from key_shares')).rowCount ?? 0
  assert.ok(shares > 3)

  // A row that was damaged is counted and left as it is.
  const damaged = await enrolled()
  await harness.query(`update key_shares set sealed = sealed || 'x' where token_id = $1`, [damaged.tokenId])
  assert.deepEqual(await reseal(harness.db, both), { resealed: shares + 2, unreadable: 1 })
  assert.deepEqual(await reseal(harness.db, both), { resealed: 0, unreadable: 1 })
  await harness.caller.ask('/v1/erasures', { realm: damaged.realm, tokenId: damaged.tokenId })

  const { clock } = harness
  const log = createLog('fatal', { write: () => {} })
  const withKey = (masterKey?: string) =>
    openStore({ config: loadConfig({ ...harness.env, MASTER_KEY: masterKey }), clock, log })
  const store = await withKey(newKey)
  assert.deepEqual(store.keys.published, harness.keys.published, 'the keys of the service changed')
  await store.db.close()
  await assert.rejects(withKey(oldKey), /MASTER_KEY lacks the key [0-9a-f]{12}, which sealed \d+ key shares/)

  const renewed = await createHarnessOn(newKey)
  assert.equal(await renewed.compare(person, genuine), 'accept')
  await renewed.close()
})

/** The same database under another master key. */
async function createHarnessOn(masterKey: string) {
  const { clock, seed, env } = harness
  const log = createLog('fatal', { write: () => {} })
  const config = loadConfig({ ...env, MASTER_KEY: masterKey })
  const { app, db, keys, stopThreads } = await createWire({ config, clock, log })
  const caller = await createCaller({
    send: harness.sendInto(app),
    seed,
    published: keys.published,
    nowMs: () => clock.now().getTime(),
  })
  const close = async () => {
    await app.close()
    await stopThreads()
    await db.close()
  }
  return { compare: caller.compare, close }
}
