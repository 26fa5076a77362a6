import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Client, createClient, createFaces, feature } from '../biometrics/testing/faces.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { createHarness } from '../testing/harness.ts'
import type { NewCredential, PasskeyVerdict } from './index.ts'
import { type Authenticator, createAuthenticator, FLAG, type Lies, newPair } from './testing/authenticator.ts'

const party = { origin: 'https://id.example', rpId: 'id.example' }
const OK = { ok: true }
const refused = (reason: string) => ({ ok: false, reason })
const faces = createFaces(19)
const harness = await createHarness({ PUBLIC_URL: 'https://id.example' })
const { tenantId, key } = await harness.tenantWithKey({ scopes: ['node:*'] })
const client = createClient(harness, key)
const owner = { tenantId, livemode: false }

const db = () => harness.wire.platform.cells.forId(owner.tenantId)

async function enrolled(by: Client = client): Promise<string> {
  const { body } = await by.post('plainEnroll', { features: feature(faces.person()) })
  assert.equal(body.status, 0)
  return body.puid
}

async function newCredential(authenticator: Authenticator): Promise<NewCredential> {
  const { service: passkeys } = harness.wire.passkeys
  const { options, challenge } = passkeys.registrationOptions({ rpName: 'Example', userName: 'Example' })
  const verdict = await passkeys.verifyRegistration({ response: authenticator.create(options), challenge })
  assert.ok(verdict.ok)
  return verdict.credential
}

const insert = (puid: string, credential: NewCredential, of: TenantData = owner): Promise<PasskeyVerdict> =>
  db().transaction((tx) => harness.wire.passkeys.service.insert(tx, of, puid, credential))

/** A person with one passkey. */
async function someone(settings: { counts?: boolean; backup?: number } = {}) {
  const authenticator = createAuthenticator({ ...party, ...settings })
  const puid = await enrolled()
  const credential = await newCredential(authenticator)
  assert.deepEqual(await insert(puid, credential), OK)
  return { authenticator, puid, credential }
}

/** The challenge of a sign-in, and what the authenticator answers. */
async function answered({ authenticator, puid }: { authenticator: Authenticator; puid: string }, lies: Lies = {}) {
  const credentials = await harness.wire.passkeys.service.findForPerson(db(), owner, puid)
  const counters = await harness.wire.passkeys.service.countersOf(db(), owner, puid)
  const { options, challenge } = harness.wire.passkeys.service.authenticationOptions({ credentials })
  return { response: authenticator.get(options, lies), challenge, counters, owner, puid }
}
type Sent = Awaited<ReturnType<typeof answered>>

const check = (sent: Sent) => db().transaction((tx) => harness.wire.passkeys.service.verifyAuthentication(tx, sent))

async function rowsOf(puid: string) {
  const text = `select counter::int, backed_up, transports, last_used_on::text, answered is not null as answered,
    suspended_at is not null as suspended from passkeys where person_id = $1 order by created_at`
  return (await harness.database.query(text, [puid])).rows
}

describe('a passkey', () => {
  test('is registered for a person and signs them in, again and again', async () => {
    const person = await someone()
    const { credentialId } = person.credential
    const known = [{ credentialId, transports: ['hybrid', 'internal'] }]
    assert.deepEqual(await harness.wire.passkeys.service.findForPerson(db(), owner, person.puid), known)
    const row = { counter: 0, backed_up: false, transports: ['hybrid', 'internal'], suspended: false }
    assert.deepEqual(await rowsOf(person.puid), [{ ...row, last_used_on: null, answered: false }])
    assert.deepEqual(await check(await answered(person)), OK)
    assert.deepEqual(await check(await answered(person)), OK)
    const today = harness.clock.now().toISOString().slice(0, 10)
    assert.deepEqual(await rowsOf(person.puid), [{ ...row, last_used_on: today, answered: true }])
  })

  test('is requested for the host of the launch page', async () => {
    assert.equal(harness.wire.passkeys.service.rpId, 'id.example')
    const { options } = harness.wire.passkeys.service.registrationOptions({ rpName: 'Example', userName: 'Example' })
    assert.deepEqual(options.rp, { id: 'id.example', name: 'Example' })
  })

  test('gets a unique challenge of 32 bytes', () => {
    const challenges = Array.from(
      { length: 50 },
      () => harness.wire.passkeys.service.authenticationOptions({ credentials: [] }).challenge,
    )
    assert.equal(new Set(challenges).size, 50)
    for (const challenge of challenges) assert.equal(Buffer.from(challenge, 'base64url').length, 32)
  })

  test('that was used last is listed first', async () => {
    const person = await someone()
    harness.clock.advance(1000)
    const second = await newCredential(person.authenticator)
    assert.deepEqual(await insert(person.puid, second), OK)
    const ids = async () =>
      (await harness.wire.passkeys.service.findForPerson(db(), owner, person.puid)).map((one) => one.credentialId)
    assert.deepEqual(await ids(), [second.credentialId, person.credential.credentialId])
    const [first] = person.authenticator.credentials
    const { options, challenge } = harness.wire.passkeys.service.authenticationOptions({
      credentials: [{ credentialId: person.credential.credentialId, transports: [] }],
    })
    const response = person.authenticator.get(options, first ? { use: first } : {})
    assert.deepEqual(await check({ response, challenge, counters: {}, owner, puid: person.puid }), OK)
    assert.deepEqual(await ids(), [person.credential.credentialId, second.credentialId])
  })

  test('that is synced may become backed up, and may not stop being eligible for backup', async () => {
    const person = await someone({ backup: FLAG.be })
    const flags = FLAG.up | FLAG.uv
    assert.deepEqual(await check(await answered(person, { flags: flags | FLAG.be | FLAG.bs })), OK)
    assert.equal((await rowsOf(person.puid))[0].backed_up, true)
    assert.deepEqual(await check(await answered(person, { flags })), refused('not_verified'))
    assert.deepEqual(await check(await answered(await someone(), { flags: flags | FLAG.be })), refused('not_verified'))
  })

  test('may omit the user handle, and may not send another one', async () => {
    const person = await someone()
    assert.deepEqual(await check(await answered(person, { userHandle: null })), OK)
    const userHandle = Buffer.alloc(32, 7).toString('base64url')
    assert.deepEqual(await check(await answered(person, { userHandle })), refused('not_verified'))
  })
})

describe('a sign-in is refused', () => {
  test('with the passkey of another person, tenant or mode, or without a person', async () => {
    const [person, other] = [await someone(), await someone()]
    const foreign = await harness.tenantWithKey({ scopes: ['node:*'] })
    const stranger = await enrolled(createClient(harness, foreign.key))
    const sent = await answered(person)
    const elsewhere = { tenantId: foreign.tenantId, livemode: false }
    for (const wrong of [
      { ...sent, puid: other.puid },
      { ...sent, puid: stranger, owner: elsewhere },
      { ...sent, owner: elsewhere },
      { ...sent, owner: { ...owner, livemode: true } },
      { ...sent, puid: '' },
      { ...sent, puid: "' or true --" },
      { ...sent, puid: '019a0000-0000-7000-8000-000000000000' },
    ])
      assert.deepEqual(await check(wrong), refused('unknown_credential'))
    assert.deepEqual(await check(sent), OK)
    assert.deepEqual(await harness.wire.passkeys.service.findForPerson(db(), elsewhere, person.puid), [])
    assert.deepEqual(await harness.wire.passkeys.service.findForPerson(db(), owner, 'nobody'), [])
  })

  test('with the passkey of one person under the id of another person’s passkey', async () => {
    const [person, other] = [await someone(), await someone()]
    const sent = await answered(person, { signer: newPair('ES256').privateKey })
    assert.deepEqual(await check(sent), refused('not_verified'))
    const [mine] = other.authenticator.credentials
    const credentials = await harness.wire.passkeys.service.findForPerson(db(), owner, person.puid)
    const { options, challenge } = harness.wire.passkeys.service.authenticationOptions({ credentials })
    const outerId = person.credential.credentialId
    const response = other.authenticator.get(options, { outerId, userHandle: null, ...(mine && { use: mine }) })
    assert.deepEqual(
      await check({ response, challenge, counters: {}, owner, puid: person.puid }),
      refused('not_verified'),
    )
  })

  test('with an answer that was given before, whether the passkey counts or not', async () => {
    for (const counts of [false, true]) {
      const person = await someone({ counts })
      const sent = await answered(person)
      assert.deepEqual(await check(sent), OK)
      assert.deepEqual(await check(sent), refused('replayed'))
      const { challenge } = await answered(person)
      assert.deepEqual(await check({ ...sent, challenge }), refused('wrong_challenge'))
      assert.equal((await rowsOf(person.puid))[0].suspended, false, 'a repeated request is no copy of the passkey')
    }
  })

  test('for nine of ten identical answers that arrive at once', async () => {
    for (const counts of [false, true]) {
      const sent = await answered(await someone({ counts }))
      const verdicts = await Promise.all(Array.from({ length: 10 }, () => check(sent)))
      assert.equal(verdicts.filter(({ ok }) => ok).length, 1)
      for (const verdict of verdicts) if (!verdict.ok) assert.equal(verdict.reason, 'replayed')
    }
  })

  test('with anything that is not an answer, and nothing throws', async () => {
    const person = await someone()
    const sent = await answered(person)
    for (const response of [undefined, null, 'x', 5, [], {}, { ...sent.response, type: 'x' }]) {
      const wrong = { challenge: sent.challenge, counters: {}, owner, puid: person.puid, response }
      const verdict = await db().transaction((tx) => harness.wire.passkeys.service.verifyAuthentication(tx, wrong))
      assert.deepEqual(verdict, refused('malformed'))
      const registration = await harness.wire.passkeys.service.verifyRegistration({
        response,
        challenge: sent.challenge,
      })
      assert.deepEqual(registration, refused('malformed'))
    }
  })
})

describe('a counter that goes back', () => {
  test('suspends the passkey: it is not requested and not accepted again', async () => {
    const person = await someone({ counts: true })
    assert.deepEqual(await check(await answered(person, { counter: 7 })), OK)
    const later = await answered(person, { counter: 9 })
    assert.deepEqual(await check(await answered(person, { counter: 7 })), refused('counter_back'))
    assert.deepEqual(await check(later), refused('suspended'))
    assert.deepEqual(await harness.wire.passkeys.service.findForPerson(db(), owner, person.puid), [])
    const [row] = await rowsOf(person.puid)
    assert.deepEqual([row.counter, row.suspended], [7, true])
    assert.match(harness.logged(), /the counter of a passkey went back/)
  })

  test('because another sign-in succeeded in between is a late answer: it is refused, and suspends nothing', async () => {
    const person = await someone({ counts: true })
    for (const counter of [1, 3]) {
      const overtaken = await answered(person, { counter })
      assert.deepEqual(await check(await answered(person, { counter: counter + 1 })), OK)
      assert.deepEqual(await check(overtaken), refused('overtaken'))
      assert.equal((await rowsOf(person.puid))[0].suspended, false)
    }
    const ahead = await answered(person, { counter: 9 })
    assert.deepEqual(await check(await answered(person, { counter: 8 })), OK)
    assert.deepEqual(await check(ahead), OK, 'a counter that is ahead is taken, whatever came between')
    assert.deepEqual(await check(await answered(person, { counter: 9 })), refused('counter_back'), 'asked for since')
    assert.equal((await rowsOf(person.puid))[0].suspended, true)
  })

  test('counts only when the passkey has signed it', async () => {
    const person = await someone({ counts: true })
    assert.deepEqual(await check(await answered(person, { counter: 300 })), OK)
    const signer = newPair('ES256').privateKey
    assert.deepEqual(await check(await answered(person, { counter: 2, signer })), refused('not_verified'))
    assert.deepEqual(await check(await answered(person, { counter: 301 })), OK)
    assert.deepEqual(await check(await answered(person, { counter: 4_294_967_295 })), OK)
  })
})

describe('stored passkeys', () => {
  test('a credential is stored once, for one person, and a refusal leaves the transaction usable', async () => {
    const { puid, credential } = await someone()
    const other = await enrolled()
    assert.deepEqual(await insert(puid, credential), refused('taken'))
    const spare = await newCredential(createAuthenticator(party))
    await db().transaction(async (tx) => {
      const forged = { ...spare, credentialId: credential.credentialId }
      assert.deepEqual(await harness.wire.passkeys.service.insert(tx, owner, other, forged), refused('taken'))
      assert.deepEqual(await harness.wire.passkeys.service.insert(tx, owner, other, spare), OK)
    })
    assert.equal((await rowsOf(other)).length, 1)
    const foreign = await harness.tenantWithKey({ scopes: ['node:*'] })
    const stranger = await enrolled(createClient(harness, foreign.key))
    const elsewhere = { tenantId: foreign.tenantId, livemode: false }
    assert.deepEqual(await insert(stranger, credential, elsewhere), OK, 'tenants know nothing of each other')
  })

  test('a person has at most 20, even if two are registered at once', async () => {
    const { authenticator, puid } = await someone()
    for (let count = 1; count < 19; count++)
      assert.deepEqual(await insert(puid, await newCredential(authenticator)), OK)
    const both = [await newCredential(authenticator), await newCredential(authenticator)]
    const verdicts = await Promise.all(both.map((credential) => insert(puid, credential)))
    assert.deepEqual(
      verdicts.filter(({ ok }) => !ok),
      [refused('full')],
    )
    assert.equal((await rowsOf(puid)).length, 20)
  })

  test('ids, keys and challenges are never logged', async () => {
    const person = await someone()
    const sent = await answered(person)
    await check(sent)
    await check({ ...sent, challenge: 'other' })
    const log = harness.logged()
    for (const secret of [person.credential.credentialId, person.credential.publicKey, sent.challenge, person.puid])
      assert.ok(!log.includes(secret))
  })
})

describe('when a person is deleted', () => {
  const remove = async (puid: string) =>
    (
      await client.post('FACE3_3/deleteUser', {
        puid: await client.seal('deleteUser', puid, { modelVersion: 'FACE3_3' }),
      })
    ).http

  test('their passkeys are deleted too, and those of others stay', async () => {
    const [person, other] = [await someone(), await someone()]
    const sent = await answered(person)
    assert.equal(await remove(person.puid), 200)
    assert.deepEqual(await rowsOf(person.puid), [])
    assert.deepEqual(await check(sent), refused('unknown_credential'))
    assert.deepEqual(await check(await answered(other)), OK)
  })

  test('no passkey can be registered for them any more', async () => {
    const person = await someone()
    assert.equal(await remove(person.puid), 200)
    const credential = await newCredential(person.authenticator)
    await assert.rejects(insert(person.puid, credential), { code: '23503' })
    assert.deepEqual(await rowsOf(person.puid), [])
  })

  test('and the deletion fails, their passkeys stay too', async () => {
    const person = await someone()
    await harness.database.query(`create function stay() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger stay before delete on face_persons for each row execute function stay()`)
    assert.equal(await remove(person.puid), 500)
    await harness.database.query('drop trigger stay on face_persons; drop function stay()')
    assert.equal((await rowsOf(person.puid)).length, 1)
    assert.deepEqual(await check(await answered(person)), OK)
    assert.equal(await remove(person.puid), 200)
  })

  test('while passkeys are being registered, no passkey remains', async () => {
    for (let round = 0; round < 5; round++) {
      const { authenticator, puid } = await someone()
      const more = await Promise.all(Array.from({ length: 4 }, () => newCredential(authenticator)))
      const inserts = more.map((credential) => insert(puid, credential))
      const [removed, settled] = await Promise.all([remove(puid), Promise.allSettled(inserts)])
      assert.equal(removed, 200)
      // A registration may fail because the person is gone, but not because of a deadlock.
      for (const one of settled) if (one.status === 'rejected') assert.equal(one.reason.code, '23503')
      assert.deepEqual(await rowsOf(puid), [])
    }
  })
})
