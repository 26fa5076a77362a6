/** What the matcher counts for itself (review, C4 and test 22). The key holder's own counts are tested there. */
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { TOKEN_BUDGET } from '@ostiary/contract'
import { createTokenKeys } from '@ostiary/device'
import { createProbe } from '@ostiary/token'
import type { VerificationHost } from '../verification/testing/fixture.ts'
import { createTokenFixture, type TokenUser } from './testing/people.ts'

let host: VerificationHost
let user: TokenUser
const fixture = await createTokenFixture('matcher-budget')
beforeEach(async () => {
  const { relay } = fixture
  relay.answer = undefined
  host = await fixture.newHost()
  user = await fixture.enrol(host)
  relay.seen.length = 0
})

interface Counted {
  evaluations: number
  today: number
  attacks: number
  failures: number
}

async function counted(): Promise<Counted> {
  const [row] = await fixture.rows(
    `select evaluations, day_evaluations as today, attack_events as attacks,
       (select coalesce(sum(failures), 0)::int from token_failures f where f.account = t.account) as failures
     from face_tokens t where token_id = $1`,
    [Buffer.from(user.kept.tokenId, 'base64url')],
  )
  return row as Counted
}

const day = () => fixture.harness.clock.now().toISOString().slice(0, 10)
const used = (evaluations: number) =>
  fixture.rows('update face_tokens set evaluations = $2, day = $3, day_evaluations = $2 where token_id = $1', [
    Buffer.from(user.kept.tokenId, 'base64url'),
    evaluations,
    day(),
  ])

const newProbe = () => createProbe(user.made.publicKey, fixture.faces.sample(user.face))
async function stored() {
  const sent = await fixture.sendProbe(host, user, await newProbe())
  return sent ?? assert.fail('The probe was not taken')
}
const verdictsOf = (verdicts: readonly { verdict: string }[], verdict: string) =>
  verdicts.filter((one) => one.verdict === verdict).length

describe('evaluations of a token', () => {
  test('the 51st of a day is refused before anything is evaluated, although all were accepted; the next day is open', async () => {
    await used(TOKEN_BUDGET.evaluationsPerDay - 1)
    assert.equal((await fixture.signIn(host, user)).state.state, 'SUCCESS')
    assert.deepEqual(await counted(), { evaluations: 50, today: 50, attacks: 0, failures: 0 })
    assert.equal(fixture.relay.seen.length, 1)
    const { state } = await fixture.signIn(host, user)
    assert.equal(state.state, 'FAILED')
    assert.deepEqual(await counted(), { evaluations: 50, today: 50, attacks: 0, failures: 0 })
    assert.equal(fixture.relay.seen.length, 1, 'evaluation 51 reached the key holder')
    fixture.harness.clock.advance(86_400_000)
    assert.equal((await (await stored()).compare()).verdict, 'accept')
    assert.deepEqual(await counted(), { evaluations: 51, today: 1, attacks: 0, failures: 0 })
  })

  test('of 20 at once with 5 left, exactly 5 are evaluated', async () => {
    await used(TOKEN_BUDGET.evaluationsPerDay - 5)
    fixture.relay.answer = async () => 'accept'
    const probes = await Promise.all(Array.from({ length: 20 }, () => stored()))
    const verdicts = await Promise.all(probes.map((probe) => probe.compare()))
    assert.deepEqual([verdictsOf(verdicts, 'accept'), verdictsOf(verdicts, 'locked')], [5, 15])
    assert.equal(fixture.relay.seen.length, 5)
    assert.deepEqual(await counted(), { evaluations: 50, today: 50, attacks: 0, failures: 0 })
  })

  test('of 20 processes with one probe, one evaluates it', async () => {
    fixture.relay.answer = async () => 'accept'
    const probe = await stored()
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => probe.compare()))
    assert.equal(verdictsOf(verdicts, 'accept'), 20)
    assert.equal(fixture.relay.seen.length, 1)
    assert.equal((await counted()).evaluations, 1)
  })

  test('after 5,000, and after 24 months, none is left', async () => {
    for (const [column, value] of [
      ['evaluations', TOKEN_BUDGET.evaluationsPerToken],
      ['created_at', new Date(fixture.harness.clock.now().getTime() - 731 * 86_400_000)],
    ] as const) {
      user = await fixture.enrol(host)
      fixture.relay.seen.length = 0
      await fixture.rows(`update face_tokens set ${column} = $2 where token_id = $1`, [
        Buffer.from(user.kept.tokenId, 'base64url'),
        value,
      ])
      assert.equal((await (await stored()).compare()).verdict, 'locked')
      assert.equal(fixture.relay.seen.length, 0)
    }
  })
})

describe('failures of a person', () => {
  test('of 20 wrong faces at once, exactly ten are evaluated', async () => {
    fixture.relay.answer = async () => 'reject'
    const probes = await Promise.all(Array.from({ length: 20 }, () => stored()))
    const verdicts = await Promise.all(probes.map((probe) => probe.compare()))
    assert.deepEqual([verdictsOf(verdicts, 'reject'), verdictsOf(verdicts, 'locked')], [10, 10])
    assert.equal((await counted()).failures, TOKEN_BUDGET.failuresPerDay)
  })

  test('are 60 in 30 days at most', async () => {
    const account = Buffer.from(user.kept.account, 'base64url')
    const insert = 'insert into token_failures values ($1, false, $2, $3::date - $4::int, 10)'
    for (let ago = 1; ago <= 6; ago++) await fixture.rows(insert, [host.tenantId, account, day(), ago])
    assert.equal((await (await stored()).compare()).verdict, 'locked')
    fixture.harness.clock.advance(29 * 86_400_000)
    assert.equal((await (await stored()).compare()).verdict, 'accept')
  })

  test('probes that the device has not signed count nothing, and never lock the owner', async () => {
    const keys = await createTokenKeys()
    for (let n = 0; n < 70; n++)
      assert.equal(await fixture.sendProbe(host, user, user.made.token.subarray(0, 40), keys), undefined)
    assert.deepEqual(await counted(), { evaluations: 0, today: 0, attacks: 0, failures: 0 })
    assert.equal((await fixture.signIn(host, user)).state.state, 'SUCCESS')
  })
})

describe('a process that is killed', () => {
  test('between beginning a probe and counting it has begun nothing: the repeat is counted', async () => {
    const probe = await stored()
    await fixture.rows(`create function fail() returns trigger language plpgsql as $$ begin raise 'killed'; end $$`)
    await fixture.rows('create trigger killed before update on face_tokens for each row execute function fail()')
    await assert.rejects(probe.compare())
    await fixture.rows('drop trigger killed on face_tokens')
    await fixture.rows('drop function fail')
    const [{ verdict }] = await fixture.rows('select verdict from token_probes where tenant_id = $1', [host.tenantId])
    assert.equal(verdict, null)
    assert.equal((await probe.compare()).verdict, 'accept')
    assert.equal((await counted()).evaluations, 1)
  })

  test('after counting gives no free try, and its failure is taken back once, however often the probe is repeated', async () => {
    const probe = await stored()
    fixture.relay.answer = () => Promise.reject(new Error('away'))
    await assert.rejects(probe.compare(), { code: 'KEY_HOLDER_UNAVAILABLE' })
    assert.deepEqual(await counted(), { evaluations: 1, today: 1, attacks: 0, failures: 1 })
    await fixture.rows('update token_failures set failures = 3 where tenant_id = $1', [host.tenantId])
    fixture.relay.answer = undefined
    // Both wait for the killed one, then both ask the key holder, which repeats its answer to one of them or refuses it.
    const verdicts = await Promise.all([probe.compare(), probe.compare()])
    assert.ok(verdictsOf(verdicts, 'accept') > 0)
    const { evaluations, failures } = await counted()
    assert.equal(evaluations, 1)
    assert.ok(failures >= 2, `${failures} failures are left of 3`)
    const [, one, other] = fixture.relay.seen
    assert.ok(one && other)
    assert.deepEqual(Buffer.compare(one.evaluation, other.evaluation), 0, 'the same probe gave other bytes')
  })
})
