import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createInstallation } from '../testing/installation.ts'

const { cli } = await createInstallation('hosts', { PUBLIC_URL: 'https://id.example' })
before(async () => {
  await cli('migrate')
  for (const tenant of ['Fjord', 'Skerry']) await cli(`tenants create ${tenant}`)
})

test('a host name is bound, listed, refused to another tenant, and removed', async () => {
  assert.equal((await cli('tenants hosts list')).out, 'Every host name serves everybody.')
  const added = await cli('tenants hosts add Node.Fjord.Example --tenant Fjord')
  assert.match(added.out, /^node\.fjord\.example belongs to [0-9a-f-]{36}; effective everywhere within 5 seconds$/)
  const json = JSON.parse((await cli('tenants hosts add node.fjord.example --tenant Fjord --json')).out)
  assert.equal(json.host, 'node.fjord.example')
  const taken = await cli('tenants hosts add node.fjord.example --tenant Skerry')
  assert.deepEqual([taken.code, /belongs to another tenant/.test(taken.err)], [1, true])
  assert.match((await cli('tenants hosts list')).out, new RegExp(`node\\.fjord\\.example +${json.tenant_id} +\\d{4}-`))
  assert.deepEqual(JSON.parse((await cli('tenants hosts list --tenant Fjord --json')).out), [json])
  assert.equal((await cli('tenants hosts list --tenant Skerry --json')).out, '[]')
  assert.equal((await cli('tenants hosts remove node.fjord.example --tenant Skerry')).code, 1)
  assert.match(
    (await cli('tenants hosts remove node.fjord.example --tenant Fjord')).out,
    /serves everybody within 5 seconds/,
  )
  assert.equal((await cli('tenants hosts list --json')).out, '[]')
})

test('what is missing or cannot be is named', async () => {
  const cases: [line: string, code: number, said: RegExp][] = [
    ['tenants hosts add --tenant Fjord', 2, /^Name the host name/],
    ['tenants hosts add node.example', 2, /^--tenant is required/],
    ['tenants hosts add node.example --tenant Nobody', 2, /^There is no tenant "Nobody"/],
    ['tenants hosts add 192.0.2.1 --tenant Fjord', 1, /must be a name, not an address/],
    ['tenants hosts add node.example:443 --tenant Fjord', 1, /must be a DNS host name/],
    ['tenants hosts add id.example --tenant Fjord', 1, /is the address of this installation/],
    ['tenants hosts remove node.example --tenant Fjord', 1, /The tenant has no such host name/],
  ]
  for (const [line, code, said] of cases) {
    const result = await cli(line)
    assert.equal(result.code, code, line)
    assert.match(result.err, said)
  }
})
