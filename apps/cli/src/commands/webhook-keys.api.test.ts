import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createInstallation } from '../testing/installation.ts'

const { cli } = await createInstallation('webhook_keys')
before(async () => {
  await cli('migrate')
  await cli('tenants create Fjord')
})

const statuses = async () =>
  JSON.parse((await cli('webhook-keys list --tenant Fjord --json')).out).map((one: Record<string, unknown>) => [
    one.kid,
    one.livemode,
    one.status,
  ])

test('a key pair is created, rotated with an overlap, listed and retired; the private half is never shown', async () => {
  const made = await cli('webhook-keys create --tenant Fjord --live')
  assert.match(made.out, /^[A-Za-z0-9_-]{43}$/, 'the key id alone on standard output')
  assert.match(made.err, /Public half: \/\.well-known\/ostiary-webhook-keys\/[0-9a-f-]{36}\.json$/)
  assert.equal((await cli('webhook-keys create --tenant Fjord --live')).code, 1, 'there is one already')
  const ofTests = await cli('webhook-keys create --tenant Fjord --test')
  assert.match(ofTests.err, /\.json\?mode=test$/)
  const rotated = await cli('webhook-keys rotate --tenant Fjord --live --overlap-days 2')
  assert.match(rotated.err, /^Both key pairs sign until \d{4}-/)
  assert.deepEqual(await statuses(), [
    [rotated.out, true, 'current'],
    [made.out, true, 'ending'],
    [ofTests.out, false, 'current'],
  ])
  assert.match((await cli('webhook-keys list --tenant Fjord')).out, new RegExp(`${made.out} +live +ending +\\d{4}-`))
  assert.equal((await cli(`webhook-keys retire ${made.out} --tenant Fjord`)).code, 0)
  assert.deepEqual((await statuses()).slice(0, 2), [
    [rotated.out, true, 'current'],
    [made.out, true, 'retired'],
  ])
})

test('what is missing or unknown is named', async () => {
  for (const [line, message] of [
    ['webhook-keys create --tenant Fjord', /either --test or --live/],
    ['webhook-keys create --tenant Fjord --test --live', /either --test or --live/],
    ['webhook-keys create --live', /--tenant is required/],
    ['webhook-keys retire --tenant Fjord', /key id/],
    ['webhook-keys retire nobody --tenant Fjord', /no such webhook key/],
    ['webhook-keys rotate --tenant Fjord --live --overlap-days 91', /0 to 90 days/],
    ['webhook-keys list --tenant Elsewhere', /no tenant "Elsewhere"/],
  ] as const) {
    const { code, err } = await cli(line)
    assert.notEqual(code, 0, line)
    assert.match(err, message, line)
  }
})
