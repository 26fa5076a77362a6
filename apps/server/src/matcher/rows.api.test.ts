/** A writer of the matcher's database who has no key of it (review, finding 3 and test 21). */
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { createTokenKeys } from '@ostiary/device'
import type { KeptToken, TokenKeeper } from '@ostiary/device/simulated'
import type { VerificationHost } from '../verification/testing/fixture.ts'
import { createTokenFixture, type TokenUser } from './testing/people.ts'

let host: VerificationHost
const fixture = await createTokenFixture('matcher-rows')
beforeEach(async () => {
  // Failures of one tenant lock the network that they come from.
  host = await fixture.newHost()
  fixture.relay.seen.length = 0
})

const idOf = ({ tokenId }: KeptToken) => Buffer.from(tokenId, 'base64url')
const rowOf = async (kept: KeptToken) =>
  (await fixture.rows('select * from face_tokens where token_id = $1', [idOf(kept)]))[0]
const set = (kept: KeptToken, column: string, value: unknown) =>
  fixture.rows(`update face_tokens set ${column} = $2 where token_id = $1`, [idOf(kept), value])

/** The columns that one row has of its own; the other ones are ids. */
const CONTENT = ['account', 'token_hash', 'device_key', 'sealed', 'sealed_token', 'person_seal'] as const

async function swap(one: KeptToken, other: KeptToken, columns: readonly string[]): Promise<void> {
  const [first, second] = [await rowOf(one), await rowOf(other)]
  for (const column of columns) {
    await set(one, column, second[column])
    await set(other, column, first[column])
  }
}

const withToken = (kept: KeptToken): TokenKeeper => ({ find: async () => kept, keep: async () => {} })

/** Nobody gets in, and the key holder was asked so often. */
async function refused(user: Pick<TokenUser, 'face' | 'keeper'>, evaluations: number): Promise<void> {
  const { state, webhook } = await fixture.signIn(host, user)
  assert.deepEqual([state.state, webhook.puid], ['FAILED', undefined])
  assert.equal(fixture.relay.seen.length, evaluations)
}

describe('a row of the matcher that was changed lets nobody in, and nothing is evaluated:', () => {
  test('another face added to the sealed token, bit by bit', async () => {
    const victim = await fixture.enrol(host)
    const { sealed_token: sealed } = await rowOf(victim.kept)
    // A writer who could flip bits of the token inside the seal would add a face to it.
    const added = Buffer.from(sealed).map((byte: number, at: number) => (at > 100 && at < 5_000 ? byte ^ 1 : byte))
    await set(victim.kept, 'sealed_token', added)
    await refused(victim, 0)
  })

  test('a token of the writer’s own, with its hash, in place of the sealed one', async () => {
    const [victim, attacker] = [await fixture.enrol(host), await fixture.enrol(host)]
    const own = await rowOf(attacker.kept)
    await set(victim.kept, 'sealed_token', own.sealed_token)
    await set(victim.kept, 'token_hash', own.token_hash)
    await refused({ ...victim, face: attacker.face }, 0)
  })

  for (const column of ['account', 'device_key', 'sealed', 'sealed_token', 'person_seal'] as const) {
    test(`the column ${column} of another row`, async () => {
      const [one, other] = [await fixture.enrol(host), await fixture.enrol(host)]
      await swap(one.kept, other.kept, [column])
      await refused(one, 0)
    })
  }

  test('all of another row but its ids', async () => {
    const [one, other] = [await fixture.enrol(host), await fixture.enrol(host)]
    await swap(one.kept, other.kept, CONTENT)
    await refused(one, 0)
    await refused({ face: other.face, keeper: withToken({ ...other.kept, tokenId: one.kept.tokenId }) }, 0)
  })

  test('another person, with and without the seal of theirs', async () => {
    const [victim, attacker] = [await fixture.enrol(host), await fixture.enrol(host)]
    await set(attacker.kept, 'person_id', victim.puid)
    await refused(attacker, 0)
    await set(attacker.kept, 'person_seal', (await rowOf(victim.kept)).person_seal)
    await refused(attacker, 0)
  })

  test('a device key of the writer’s own, although it signs all that the matcher asks for', async () => {
    const victim = await fixture.enrol(host)
    const keys = await createTokenKeys()
    const { x, y } = keys.publicKey
    await set(victim.kept, 'device_key', Buffer.concat([x, y].map((part) => Buffer.from(part, 'base64url'))))
    await refused({ face: victim.face, keeper: withToken({ ...victim.kept, keys }) }, 0)
    await refused(victim, 0)
  })
})

describe('an old row that is restored lets nobody in:', () => {
  const restore = async (row: Record<string, unknown>) => {
    const columns = Object.keys(row)
    const places = columns.map((_, at) => `$${at + 1}`)
    await fixture.rows(`insert into face_tokens (${columns}) values (${places})`, Object.values(row))
  }

  async function sendErasures() {
    const { wire, clock } = fixture.harness
    clock.advance(3_600_000)
    for (const { db } of wire.platform.cells.all()) await wire.matcher.erasures.sendDue(db, clock.now())
  }

  test('after a renewal the key holder has the share of the new token alone', async () => {
    const user = await fixture.enrol(host)
    const old = user.kept
    const row = await rowOf(old)
    await set(old, 'evaluations', 4_600)
    assert.equal((await fixture.signIn(host, user)).webhook.puid, user.puid)
    assert.equal(await rowOf(old), undefined, 'the token was not renewed')
    await sendErasures()
    await restore(row)
    fixture.relay.seen.length = 0
    await refused({ face: user.face, keeper: withToken(old) }, 3)
    const { state } = await fixture.signIn(host, user)
    assert.equal(state.state, 'SUCCESS', 'the new token still works')
  })

  test('after an erasure the key holder has nothing of the person', async () => {
    const user = await fixture.enrol(host)
    const row = await rowOf(user.kept)
    const [person] = await fixture.rows('select * from face_persons where person_id = $1', [user.puid])
    const group = { tenantId: host.tenantId, livemode: false }
    assert.ok(await fixture.harness.wire.biometrics.recognition.delete(group, user.puid))
    await sendErasures()
    const columns = Object.keys(person)
    const places = columns.map((_, at) => `$${at + 1}`)
    await fixture.rows(`insert into face_persons (${columns}) values (${places})`, Object.values(person))
    await restore(row)
    await refused(user, 3)
  })
})

test('counts that are set back at the matcher are not set back at the key holder', async () => {
  const user = await fixture.enrol(host)
  const text = 'update key_shares set evaluations_that_day = 50 where token_id = $1'
  await fixture.atKeyHolder(text, [user.kept.tokenId])
  await set(user.kept, 'evaluations', 0)
  await refused(user, 1)
})
