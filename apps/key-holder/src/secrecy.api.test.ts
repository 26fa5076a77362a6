import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { KEY_HOLDER_PATHS } from '@ostiary/contract'
import { bodyHash } from '@ostiary/crypto'
import { createSubject, evaluateFace } from './testing/device.ts'
import { faceOf } from './testing/faces.ts'
import { createHarness } from './testing/harness.ts'

const face = faceOf(41)
const harness = await createHarness()
after(() => harness.close())

test('neither the log nor the metrics nor an answer names a person, a token, a nonce, a key, a hash or a score', async () => {
  const person = await createSubject(face)
  await harness.caller.enrolPerson(person, face)
  const [genuine, other] = [await evaluateFace(person, face), await evaluateFace(person, faceOf(42))]
  const nonce = await harness.caller.nonceFor(person)
  await harness.caller.compare(person, genuine, { signed: { keyHolderNonce: nonce } })
  await harness.caller.compare(person, other)
  await harness.caller.compare(person, genuine, { token: other.probe })
  for (let n = 0; n < 4; n++)
    await harness.caller.compare(person, genuine, { evaluation: genuine.evaluation.subarray(1) })
  await harness.query(`update key_shares set sealed = sealed || 'x'`)
  await harness.caller.compare(person, genuine)
  const stray = { realm: person.realm, tokenId: person.tokenId, account: person.account }
  for (const path of Object.values(KEY_HOLDER_PATHS)) await harness.caller.call('POST', path, stray)
  await harness.query('alter table verdicts rename to verdicts_away')
  const broken = await harness.caller.call('POST', KEY_HOLDER_PATHS.erasures, {
    realm: person.realm,
    tokenId: person.tokenId,
  })
  assert.deepEqual(broken.content, { message: 'Internal error' })
  await harness.query('alter table verdicts_away rename to verdicts')
  await harness.caller.ask(KEY_HOLDER_PATHS.erasures, { realm: person.realm, account: person.account })

  const { sealPrivateJwk } = harness.keys
  const secrets = {
    realm: person.realm,
    account: person.account,
    tokenId: person.tokenId,
    nonce,
    probeHash: await bodyHash(genuine.probe),
    tokenHash: await bodyHash(person.enrolled.token),
    deviceKey: person.deviceKey.x,
    share: Buffer.from(person.enrolled.keyShare).toString('base64url').slice(100, 140),
    d: sealPrivateJwk.d,
    masterKey: harness.env.MASTER_KEY ?? '',
    databaseUrl: harness.env.DATABASE_URL ?? '',
  }
  const written = harness.logged() + (await harness.metrics.registry.metrics())
  for (const [name, value] of Object.entries(secrets)) assert.ok(value !== '' && !written.includes(value), name)
  // `attack="norm"` is a kind of attack: each kind is counted from 0.
  assert.doesNotMatch(written, /score|cosine|norm(":|=)/i)
  const lines = harness.logged().trim().split('\n')
  assert.ok(lines.length > 15)
  for (const line of lines) JSON.parse(line)
})
