import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { readInstallation } from './installation.ts'
import { profilesFile, readProfiles, writeProfiles } from './profiles.ts'
import { runQuietly } from './testing/run-quietly.ts'

const folder = temporaryFolder('profiles')
const MAIN = new URL('./main.ts', import.meta.url).pathname

type Env = Record<string, string | undefined>

const bare: Env = { XDG_CONFIG_HOME: join(folder, 'empty') }
const stored: Env = { XDG_CONFIG_HOME: join(folder, 'stored') }
const [WORK, LIVE, DEV, MINE] = ['test_work', 'live_prod', 'test_dev0', 'test_mine'].map((name) => `ost_${name}_zzzz`)
assert.ok(WORK && LIVE && DEV && MINE)
writeProfiles(stored, {
  current: 'work',
  profiles: {
    work: { url: 'https://work.example', key: WORK },
    prod: { url: 'https://prod.example', key: LIVE },
  },
})

const dev = join(folder, 'env')
writeFileSync(
  dev,
  `DATABASE_URL=postgres://dev\nMASTER_KEY_FILE=dev.key\nOSTIARY_URL=http://localhost:18431\nOSTIARY_API_KEY=${DEV}\n`,
)

const cli = (line: string, env: Env) => runQuietly(line.split(' '), env)

/** The address, whose key it is, and where both come from. */
async function chosen(line: string, env: Env): Promise<unknown[]> {
  const { out, err } = await cli(`profiles show --json ${line}`.trim(), env)
  assert.equal(err, '')
  const { url, urlFrom, key, keyFrom } = JSON.parse(out)
  return [url, urlFrom, key?.slice(0, 9) ?? null, keyFrom]
}

test('address and key come from the options, the environment, the profile, the installation, in this order', async () => {
  const here = readInstallation(bare, dev)
  assert.equal(here.DATABASE_URL, 'postgres://dev')
  assert.deepEqual(await chosen('', bare), ['http://127.0.0.1:8080', 'default', null, null])
  assert.deepEqual(await chosen('', here), ['http://localhost:18431', 'installation', 'ost_test_', 'installation'])
  const both = readInstallation(stored, dev)
  assert.deepEqual(await chosen('', both), ['https://work.example', 'profile work', 'ost_test_', 'profile work'])
  assert.deepEqual(await chosen('--profile prod', both), [
    'https://prod.example',
    'profile prod',
    'ost_live_',
    'profile prod',
  ])
  const named = { ...both, OSTIARY_PROFILE: 'prod' }
  assert.deepEqual(await chosen('', named), ['https://prod.example', 'profile prod', 'ost_live_', 'profile prod'])
  const set = { ...both, OSTIARY_URL: 'https://set.example', OSTIARY_API_KEY: MINE }
  assert.deepEqual(await chosen('', set), ['https://set.example', 'environment', 'ost_test_', 'environment'])
  assert.equal((await chosen('--profile prod', set))[0], 'https://prod.example')
  assert.deepEqual(await chosen(`--url http://x.example --key ${MINE}`, set), [
    'http://x.example',
    'option',
    'ost_test_',
    'option',
  ])
})

test('an environment that names another database takes nothing from the installation', () => {
  const mine: Env = { DATABASE_URL: 'postgres://mine', MASTER_KEY: 'mine' }
  assert.deepEqual(readInstallation(mine, dev), mine)
  assert.deepEqual(readInstallation({ CELLS_FILE: 'cells.json' }, dev), { CELLS_FILE: 'cells.json' })
  const same: Env = { DATABASE_URL: 'postgres://dev', LOG_LEVEL: 'warn' }
  const read = readInstallation(same, dev)
  assert.deepEqual([read.MASTER_KEY_FILE, read.LOG_LEVEL], ['dev.key', 'warn'])
})

test('a stored key goes to the service that it was stored for, and to no other', async () => {
  const both = readInstallation(stored, dev)
  assert.deepEqual(await chosen('--url https://other.example', both), ['https://other.example', 'option', null, null])
  assert.deepEqual(await chosen('--url https://work.example/', both), [
    'https://work.example/',
    'option',
    'ost_test_',
    'profile work',
  ])
  assert.equal((await chosen('--url http://work.example', both))[3], null, 'not without encryption')
  assert.equal((await chosen('--url http://127.0.0.1:18431', both))[3], 'installation')
  assert.equal((await chosen('--url http://127.0.0.1:18432', both))[3], null)
})

test('profiles are listed, chosen and forgotten; no command prints a key; only the owner can read the file', async () => {
  assert.equal(statSync(profilesFile(stored)).mode & 0o777, 0o600)
  const list = await cli('profiles list', stored)
  assert.match(list.out, /^\* +work +https:\/\/work\.example +test +ost_test_…zzzz$/m)
  assert.doesNotMatch(list.out, /prod_zzzz|work_zzzz/)
  assert.equal((await cli('profiles use prod', stored)).out, 'In use: prod, https://prod.example')
  assert.equal((await cli('profiles use nobody', stored)).code, 2)
  assert.match((await cli('screen x.csv --dataset demo --profile nobody', stored)).err, /There is no/)
  assert.equal((await cli('logout', stored)).out, 'prod is forgotten. In use now: work')
  assert.deepEqual(Object.keys(readProfiles(stored).profiles), ['work'])
  assert.equal(statSync(profilesFile(stored)).mode & 0o777, 0o600)
})

test('[U7] a folder that others may write is refused, and the message says what to do', async () => {
  const loose: Env = { XDG_CONFIG_HOME: join(folder, 'loose') }
  writeProfiles(loose, { current: null, profiles: {} })
  const own = dirname(profilesFile(loose))
  for (const mode of [0o777, 0o770]) {
    chmodSync(own, mode)
    const { code, err } = await cli('profiles list', loose)
    assert.deepEqual([code, err.includes(`chmod go-w ${own}`)], [1, true], err)
    assert.throws(() => writeProfiles(loose, { current: null, profiles: {} }), /Others may write/)
  }
  chmodSync(own, 0o755)
  assert.equal((await cli('profiles list', loose)).code, 0)
})

test('[U7] login to a far host without encryption warns before the key is read or sent', async () => {
  const warned = async (url: string) => {
    // Nothing is piped in, so it ends without a key.
    const child = spawn(process.execPath, [MAIN, 'login', '--url', url], { stdio: ['ignore', 'pipe', 'pipe'] })
    const err = await text(child.stderr)
    assert.match(err, /No key/)
    return err.includes('is not encrypted')
  }
  assert.deepEqual(
    await Promise.all(
      ['http://ostiary.example', 'http://127.0.0.1:1', 'http://[::1]:1', 'https://ostiary.example'].map(warned),
    ),
    [true, false, false, false],
  )
})
