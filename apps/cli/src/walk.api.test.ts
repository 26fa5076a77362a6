import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { seededRandom } from '@ostiary/device/simulated'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { COMMANDS } from './commands.ts'
import { readCompletions } from './completion/words.ts'
import { inventedFace } from './simulate/face.ts'
import { startApi } from './testing/running-api.ts'

const folder = temporaryFolder('walk')
const config = join(folder, 'config')
const api = await startApi('walk', { XDG_CONFIG_HOME: config })
const MAIN = new URL('./main.ts', import.meta.url).pathname

writeFileSync(join(folder, 'people.csv'), 'id,firstname,lastname,dob\n1,Vardo,Quellmar,1961\n')
writeFileSync(join(folder, 'list.csv'), 'id,name\n1,Vardo Quellmar\n')

const faceOf = (person: number) => {
  const embedding_vector = [...inventedFace(person, seededRandom(person))]
  return { type: 'face', embedding_vector }
}

async function json(line: string, codes = [0]) {
  const { code, out, err } = await api.cli(`${line} --json`)
  assert.ok(codes.includes(code), `${line}: ${code} ${err}`)
  // A command that watches prints one object a line.
  return out.split('\n').map((one) => JSON.parse(one))
}

/** A command line for every command, in an order in which each works. */
async function walk(): Promise<Set<string>> {
  const done = new Set<string>()
  const run = async (name: string, rest = '', codes = [0]) => {
    done.add(name)
    const [first] = await json(`${name} ${rest}`.trim(), codes)
    return first
  }
  await run('doctor', '', [0, 1])
  // Before the first call: a process keeps the settings of a tenant for 5 seconds.
  await run('tenants settings', 'Fjord --set screeningRunDays=30')
  await run('doctor live', '--tenant Fjord', [1])
  await run('migrate')
  await run('reseal')
  assert.equal((await api.cli('key-holder --json')).code, 1)
  done.add('key-holder')
  const tenant = await run('tenants create', 'Walk')
  await run('tenants list')
  await run('tenants suspend', 'Walk')
  await run('tenants resume', 'Walk')
  await run('tenants hosts add', 'walk.example --tenant Walk')
  await run('tenants hosts list')
  await run('tenants hosts remove', 'walk.example --tenant Walk')
  const key = await run('keys create', '--tenant Walk --test')
  await run('keys list', '--tenant Walk')
  const { created } = await run('keys rotate', key.id)
  await run('keys revoke', created.id)
  const client = await run('clients create', '--tenant Walk --name shop')
  await run('clients list', '--tenant Walk')
  await run('clients revoke', client.client_id)
  await run('webhook-keys create', '--tenant Walk --test')
  await run('webhook-keys list', '--tenant Walk')
  const pair = await run('webhook-keys rotate', '--tenant Walk --test')
  await run('webhook-keys retire', `${pair.created.kid} --tenant Walk`)
  await run('node stats')
  await run('node reindex', '--all')
  await run('node models declare', 'OWN --tenant Walk --length 128 --threshold 0.5 --slope 20')
  await run('node models list', '--tenant Walk')
  await run('node models remove', 'OWN --tenant Walk')
  await run('datasets enable', `ofac --from ${folder}`, [1])
  await run('datasets import', `staff ${join(folder, 'list.csv')}`)
  await run('datasets import', `staff ${join(folder, 'list.csv')} --force`)
  await run('datasets list')
  await run('datasets verify', 'staff')
  await run('datasets rollback', 'staff', [0])
  await run('datasets rebuild', '--all')
  await run('datasets remove', 'staff')
  await run('screen', `${join(folder, 'people.csv')} --dataset demo --keep`, [0, 3])
  await run('screen', `${join(folder, 'people.csv')} --dataset demo --since last`, [0, 3])
  const [later, earlier] = await run('runs list')
  await run('runs show', later.id)
  await run('runs compare', `${later.id} --with ${earlier.id}`)
  await run('runs delete', later.id)
  const until = '--reason checked --expires 2027-01-01'
  const exception = await run('exceptions add', `--record 1 --firstname Vardo --entity demo-1 ${until}`)
  await run('exceptions list')
  await run('exceptions remove', exception.id)
  await run('simulate', '--create --age 34', [0, 3])
  await run('risk explain', 'BR_WEBGL')
  await run('risk list')
  await run('profiles list')
  await run('profiles use', 'default')
  await run('profiles show')
  const { sessionId } = await run('trigger', '1 --callback https://host.example/hook')
  await run('listen', '--from start --count 1')
  await run('sessions list')
  await run('sessions show', sessionId)
  await run('sessions watch', sessionId)
  const session = await api.client().age.create({ redirectUrl: 'https://shop.example/done', ageThreshold: 30 })
  await run('sessions cancel', session.token)
  const support = await run('keys create', '--tenant Fjord --test --scope verify:lockouts')
  for (const name of ['lockouts show', 'lockouts clear'])
    assert.equal((await run(name, `--customer-id c-1 --key ${support.api_key}`)).locked, false)
  await api.client().node.plainEnroll(faceOf(1), { metadataId: 'c-1' })
  assert.deepEqual(await run('users delete', '--customer-id c-1'), { deleted: true })
  const [delivery] = await run('deliveries list')
  await run('deliveries show', delivery.id)
  await run('deliveries replay', delivery.id)
  await run('doctor webhook', '--url http://127.0.0.1:1/hook', [1])
  await run('completion', 'bash')
  await run('logout')
  assert.ok(tenant.id)
  return done
}

test('login reads a key that is piped in, checks it, and stores it for the owner alone', async () => {
  const login = async (key: string, ...args: string[]) => {
    const env = { ...process.env, ...api.env, OSTIARY_API_KEY: '' }
    const child = spawn(process.execPath, [MAIN, 'login', '--url', api.env.OSTIARY_URL ?? '', '--json', ...args], {
      env,
    })
    child.stdin.end(`${key}\n`)
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    assert.ok(!`${out}${err}`.includes(key), 'the key is never printed')
    return { code: child.exitCode, out, err }
  }
  const key = api.env.OSTIARY_API_KEY ?? ''
  const { code, out, err } = await login(key)
  assert.equal(code, 0, err)
  assert.deepEqual([JSON.parse(out).profile, JSON.parse(out).livemode], ['default', false])
  assert.equal(statSync(join(config, 'ostiary/profiles.json')).mode & 0o777, 0o600)
  const wrong = await login(`${key.slice(0, -3)}abc`, '--profile', 'other')
  assert.deepEqual([wrong.code === 0, JSON.parse(wrong.err).error.exitCode > 0], [false, true])
  const { out: list } = await api.cli('profiles list --json')
  assert.equal(JSON.parse(list).length, 1, 'a key that is refused is not stored')
})

test('every command has help, JSON and completion', async () => {
  const completions = await readCompletions(COMMANDS)
  for (const { name, summary } of COMMANDS) {
    const { code, out } = await api.cli(`help ${name}`)
    assert.ok(code === 0 && out.startsWith(`${summary}.`), name)
    assert.match(out, /--json/, `${name} names --json in its help`)
    assert.ok(completions.options.get(name)?.includes('--json'), name)
  }
  const walked = await walk()
  // Login reads a key, see above.
  const left = COMMANDS.flatMap(({ name }) => (walked.has(name) || name === 'login' ? [] : [name]))
  assert.deepEqual(left, [], 'add a line for it')
})

test('users delete removes the user that puid or customerId names, and no other', async () => {
  const { node } = api.client()
  const [first, second] = [await node.plainEnroll(faceOf(2), { metadataId: 'c-2' }), await node.plainEnroll(faceOf(3))]
  assert.equal((await api.cli(`users delete --puid ${second.puid}`)).out, 'The user is deleted')
  assert.deepEqual(await node.plainPredict(faceOf(3)), [])
  assert.equal((await node.plainPredict(faceOf(2)))[0]?.puid, first.puid)
  const again = await api.cli(`users delete --puid ${second.puid}`)
  assert.deepEqual([again.code, again.err], [1, 'Failed: There is no such user for this key'])
  for (const [words, said] of [
    ['', 'Name the user: --puid or --customer-id'],
    [`--puid ${first.puid} --customer-id c-2`, 'Give either --puid or --customer-id'],
  ]) {
    const { code, err } = await api.cli(`users delete ${words}`)
    assert.deepEqual([code, err.split('\n')[0]], [2, said])
  }
  const live = await api.cli('users delete --customer-id c-2', { ...api.env, OSTIARY_API_KEY: api.liveKey })
  assert.match(live.err, /^This is a live key: it changes real data at [\s\S]*There is no such user/)
  assert.equal((await api.cli('users delete --customer-id c-2')).code, 0)
})
