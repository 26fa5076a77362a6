import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { runCli } from '../cli.ts'

const name = `test_hosts_${randomBytes(5).toString('hex')}`
let cluster: pg.Client
let env: Record<string, string>
before(async () => {
  cluster = new pg.Client(process.env.OSTIARY_TEST_CLUSTER)
  await cluster.connect()
  await cluster.query(`create database ${name}`)
  const url = Object.assign(new URL(process.env.OSTIARY_TEST_CLUSTER ?? ''), { pathname: `/${name}` })
  env = {
    DATABASE_CONNECT_TIMEOUT_MS: '60000',
    DATABASE_URL: url.href,
    MASTER_KEY: randomBytes(32).toString('base64'),
    PUBLIC_URL: 'https://id.example',
  }
  await cli('migrate')
  for (const tenant of ['Fjord', 'Skerry']) await cli(`tenants create ${tenant}`)
})
after(async () => {
  await cluster.query(`drop database ${name} with (force)`)
  await cluster.end()
})

async function cli(line: string): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runCli(line.split(' '), env, {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    isInteractive: false,
    progress: () => {},
  })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

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
