import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { createInstallation } from '../testing/installation.ts'

const { cli } = await createInstallation('clients')
const folder = temporaryFolder('clients')
before(async () => {
  await cli('migrate')
  await cli('tenants create Fjord')
})

function keyFile(file: string, content: unknown): string {
  const path = join(folder, file)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const pair = generateKeyPairSync('ed25519')
const publicJwk = pair.publicKey.export({ format: 'jwk' })

test('a client is created with its secret, listed without it, and revoked', async () => {
  const made = await cli('clients create --tenant Fjord --name "Booking desk" --live')
  assert.match(made.out, /^ostc_live_[0-9a-z]{28}\nostcs_live_[0-9a-z]{52}$/, 'id and secret alone on standard output')
  assert.match(
    made.err,
    /^Live client Booking desk for tenant [0-9a-f-]{36}\. Copy the secret now, it cannot be shown again:$/,
  )
  const [id = '', secret = ''] = made.out.split('\n')
  const listed = await cli('clients list --tenant Fjord')
  assert.match(listed.out, new RegExp(`${id} +Booking desk +active +secret`))
  assert.ok(!listed.out.includes(secret))
  const [record] = JSON.parse((await cli('clients list --tenant Fjord --json')).out)
  assert.deepEqual(record, {
    client_id: id,
    tenant_id: record.tenant_id,
    livemode: true,
    name: 'Booking desk',
    keys: [],
    status: 'active',
    when_created: record.when_created,
  })
  assert.equal((await cli(`clients revoke ${id}`)).out, `${id} is revoked. All processes refuse it within 5 seconds`)
  assert.equal(JSON.parse((await cli(`clients revoke ${id} --json`)).out).status, 'revoked')
})

test('a client without --live is for test keys, and one with a public key has no secret', async () => {
  const trial = JSON.parse((await cli('clients create --tenant Fjord --name Trial --json')).out)
  assert.match(trial.client_id, /^ostc_test_/)
  assert.match(trial.client_secret, /^ostcs_test_/)
  const single = await cli(`clients create --tenant Fjord --name Signer --public-key ${keyFile('one.jwk', publicJwk)}`)
  assert.match(single.out, /^ostc_test_[0-9a-z]{28}$/)
  assert.match(single.err, /It signs with its own key and has no secret:$/)
  const set = keyFile('set.json', { keys: [publicJwk] })
  const many = JSON.parse((await cli(`clients create --tenant Fjord --name Set --public-key ${set} --json`)).out)
  assert.deepEqual([many.keys.length, 'client_secret' in many], [1, false])
  assert.match((await cli('clients list --tenant Fjord')).out, new RegExp(`Set +active +signature by ${many.keys[0]}`))
})

test('an error says what to do, and quotes nothing of a file', async () => {
  const create = 'clients create --tenant Fjord --name N'
  const privateJwk = pair.privateKey.export({ format: 'jwk' })
  const refusals: [string, number, RegExp][] = [
    ['clients create --name N', 2, /--tenant is required/],
    ['clients create --tenant Fjord', 2, /--name is required[\s\S]*ostiary clients create/],
    [`${create} --test --live`, 2, /Give --test or --live, not both/],
    ['clients create --tenant Nobody --name N', 2, /There is no tenant "Nobody"/],
    [`${create} --public-key ${join(folder, 'absent')}`, 2, /absent cannot be read/],
    [`${create} --public-key ${keyFile('text', 'word-of-the-file')}`, 2, /is not a JWK: its text is not JSON/],
    [`${create} --public-key ${keyFile('empty', { keys: [] })}`, 2, /holds no key/],
    [`${create} --public-key ${keyFile('private', privateJwk)}`, 1, /holds its private part, and should be replaced/],
    ['clients list', 2, /--tenant is required/],
    ['clients revoke', 2, /Name the client id/],
    ['clients revoke ostc_live_nobody', 1, /There is no such client/],
  ]
  for (const [line, code, message] of refusals) {
    const said = await cli(line)
    assert.deepEqual([said.code, said.out], [code, ''], line)
    assert.match(said.err, message)
    assert.ok(!said.err.includes('word-of-the-file') && !said.err.includes(String(privateJwk.d)))
  }
})
