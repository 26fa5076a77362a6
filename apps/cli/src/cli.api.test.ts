import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { RELEASED_MODELS } from '@ostiary/contract'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import pg from 'pg'
import { COMMANDS } from './commands.ts'
import { createInstallation } from './testing/installation.ts'

const { env, cli } = await createInstallation('cli', { PORT: '18080', ADMIN_PORT: '19400' })

test('doctor reports an empty database, says what to do, and passes after migrate', async () => {
  const before = await cli('doctor')
  assert.equal(before.code, 0)
  assert.match(before.out, /! migrations +\d+ pending\n +→ Run: ostiary migrate/)
  const migrated = await cli('migrate')
  assert.match(migrated.out, /main: 0001_foundation.sql[\s\S]*applied$/)
  assert.equal((await cli('migrate')).out, 'Nothing to do: the schema is up to date')
  const after = await cli('doctor')
  for (const check of [
    'settings',
    'database',
    'durability',
    'pgvector',
    'migrations',
    'clock',
    'master key',
    'API port',
    'admin port',
  ]) {
    assert.match(after.out, new RegExp(`✓ ${check} `))
  }
  assert.match(after.out, /! worker +none: no session expires, no webhook leaves, nothing is deleted\n +→ Start one/)
})

test('tenants and keys: create, list, rotate, revoke', async () => {
  const { id } = JSON.parse((await cli('tenants create "Fjord Rentals" --json')).out)
  assert.match((await cli('tenants list')).out, new RegExp(`${id} +Fjord Rentals +active`))
  const created = await cli(
    'keys create --tenant "Fjord Rentals" --live --scope strings:rw --plan plus --allow-ip 192.0.2.0/24 --customer-id c-1',
  )
  assert.match(created.out, /^ost_live_[0-9a-z]{60}$/, 'the key alone on standard output')
  assert.match(created.err, /cannot be shown again/)
  const [record] = JSON.parse((await cli(`keys list --tenant ${id} --json`)).out)
  assert.deepEqual(
    [record.usage_plan_id, record.customer_id, record.scopes, record.allowed_ips, record.livemode],
    ['plus', 'c-1', ['strings:rw'], ['192.0.2.0/24'], true],
  )
  assert.ok(!JSON.stringify(record).includes(created.out.slice(10, 40)))
  const rotated = JSON.parse((await cli(`keys rotate ${record.id} --overlap-days 3 --json`)).out)
  assert.equal(rotated.ending.id, record.id)
  assert.notEqual(rotated.created.api_key, created.out)
  assert.match(
    (await cli(`keys revoke ${rotated.created.id}`)).out,
    /is revoked\. All processes refuse it within 5 seconds/,
  )
  assert.match((await cli('tenants suspend "Fjord Rentals"')).out, /is suspended/)
  assert.match((await cli('tenants resume "Fjord Rentals"')).out, /is active/)
})

test('doctor says whether users will see a page, and whether their browsers will give it the camera', async () => {
  const folder = temporaryFolder('page')
  const page = { ...env, LAUNCH_DIR: folder }
  const said = async (more: Record<string, string> = {}) => (await cli('doctor', { ...page, ...more })).out
  assert.match(await said(), /! launch page +not built.*\n +→ Run .*npm run build -w apps\/launch/)
  assert.match(await said(), /✓ launch URL +http:\/\/localhost:8080/)
  writeFileSync(join(folder, 'index.html'), '<!doctype html>')
  assert.match(await said(), /✗ launch page +has no models/)
  mkdirSync(join(folder, 'models'))
  const manifest = join(folder, 'models/manifest.json')
  writeFileSync(manifest, JSON.stringify({ id: 'home-made', hash: 'x' }))
  assert.match(await said(), /✗ launch page +runs models that this version refuses \(home-made\)/)
  writeFileSync(manifest, JSON.stringify(RELEASED_MODELS.at(-1)))
  assert.match(await said(), /✓ launch page +2 files, 0 MB, models /)
  assert.match(await said({ LAUNCH_URL: 'https://page.example/launch/' }), /✓ launch page +on another host/)
  assert.match(await said({ PUBLIC_URL: 'http://id.example' }), /! launch URL +http:\/\/id.example is not encrypted/)
})

test('doctor says how many networks the operator’s lists have, and which line of which file is wrong', async () => {
  const folder = temporaryFolder('networks')
  const said = async (more: Record<string, string> = {}) => (await cli('doctor', { ...env, ...more })).out
  const lists = { NETWORK_LISTS_DIR: folder }
  assert.match(await said(), /✓ network lists +none: flags that need one are not raised/)
  assert.match(
    await said(lists),
    /! network lists +the folder has none\n +→ .*tor\.txt, datacenter\.txt, countries\.csv/,
  )
  writeFileSync(join(folder, 'countries.csv'), '192.0.2.0/24,NO\n2001:db8::/32,NO\n')
  assert.match(await said(lists), /✓ network lists +countries\.csv with 2 networks/)
  writeFileSync(join(folder, 'tor.txt'), '192.0.2.1/24\n')
  assert.match(
    await said(lists),
    /✗ network lists +NETWORK_LISTS_DIR: tor\.txt line 1 does not begin at the first address/,
  )
  assert.match(await said({ NETWORK_LISTS_DIR: join(folder, 'none') }), /✗ network lists +.*there is no such folder/)
})

test('reseal after a change of the master key; doctor reports it before and after', async () => {
  await cli('tenants create Sealed')
  await cli('keys create --tenant Sealed --test')
  const rotated = { ...env, MASTER_KEY: `${randomBytes(32).toString('base64')}\n${env.MASTER_KEY}` }
  assert.match(
    (await cli('doctor', rotated)).out,
    /! master key +\d+ stored secrets are sealed with an older master key\n +→ Run: ostiary reseal/,
  )
  const database = new pg.Client(env.DATABASE_URL)
  await database.connect()
  await database.query(`insert into webhook_deliveries (tenant_id, delivery_id, created_at, livemode, area, event, subject_id, sequence, key_id,
      endpoint_id, origin, sealed, master_key_id, purge_at)
    select tenant_id, id, now(), false, 'C', 'session.ended', id, 1, id, id, 'https://shop.example', '\\x01', master_key_id, now() + interval '1 day'
    from api_keys limit 1`)
  assert.match((await cli('reseal', rotated)).out, /stored secrets are now sealed with master key/)
  // Another run would not help: messages are not resealed.
  assert.match(
    (await cli('doctor', rotated)).out,
    /! master key +1 messages of webhooks are sealed with an older master key, and nothing else\n +→ Keep that master key/,
  )
  await database.query('delete from webhook_deliveries')
  await database.end()
  assert.match((await cli('doctor', rotated)).out, /✓ master key/)
  const lost = await cli('doctor')
  assert.equal(lost.code, 1)
  assert.match(lost.out, /✗ master key .*which is not configured/)
  const [newest = ''] = rotated.MASTER_KEY.split('\n')
  env.MASTER_KEY = newest
})

test('reseal names a key that does not open, moves the others and ends with 1', async () => {
  await cli('tenants create Damaged')
  for (const name of ['good', 'bad']) await cli(`keys create --tenant Damaged --test --name ${name}`)
  const [{ id } = assert.fail()] = JSON.parse((await cli('keys list --tenant Damaged --json')).out).filter(
    (one: { name: string }) => one.name === 'bad',
  )
  const database = new pg.Client(env.DATABASE_URL)
  await database.connect()
  await database.query(`update api_keys set sealed_key = '\\x0102' where id = $1`, [id])
  const rotated = { ...env, MASTER_KEY: `${randomBytes(32).toString('base64')}\n${env.MASTER_KEY}` }
  const { code, out, err } = await cli('reseal', rotated)
  assert.equal(code, 1)
  assert.equal(err, `No configured master key opens api_keys ${id}: passed over`)
  assert.match(
    out,
    /^[1-9]\d* stored secrets are now sealed with master key .* 1 rows cannot be opened and were passed over/,
  )
  assert.ok(!out.includes('Run it again'))
  await database.query('delete from api_keys where id = $1', [id])
  assert.match((await cli('reseal', rotated)).out, /Older master keys can be removed/)
  await database.end()
  env.MASTER_KEY = rotated.MASTER_KEY.split('\n')[0] ?? ''
})

test('area E: stats and reindex report what is stored, and which options they need', async () => {
  assert.equal((await cli('node stats')).out, 'Nobody is enrolled yet.')
  assert.equal((await cli('node stats --json')).out, '[]')
  assert.match((await cli('node reindex --all')).out, /^0 spaces rebuilt/)
  const unsaid = await cli('node reindex')
  assert.deepEqual([unsaid.code, unsaid.err.split('\n')[0]], [2, 'Give --tenant or --all'])
  const unknown = await cli('node reindex --all --model FACE9')
  assert.deepEqual(
    [unknown.code, unknown.err.split('\n')[0]],
    [2, '--model must be one of FACE3_1, FACE3_3, or a declared model of the tenant'],
  )
})

test('an error says what to do instead', async () => {
  assert.match(
    (await cli('keys create --tenant Nobody --test')).err,
    /There is no tenant "Nobody"\. Make one: ostiary tenants create/,
  )
  assert.match((await cli('keys create --tenant Sealed')).err, /Give either --test or --live[\s\S]*ostiary keys create/)
  assert.match((await cli('keys create --tenant Sealed --test --scope everything')).err, /must be among strings:rw/)
  assert.match((await cli('keys revoke nonsense')).err, /There is no such key/)
  assert.match((await cli('keys rotate')).err, /Name the key id/)
  assert.match((await cli('keys list --tenat x')).err, /Unknown option '--tenat'/)
  await cli('tenants create Twin')
  await cli('tenants create Twin')
  assert.match((await cli('keys list --tenant Twin')).err, /2 tenants are called "Twin": use the id/)
  const unset = await cli('tenants list', {})
  assert.equal(unset.code, 1)
  assert.match(unset.err, /DATABASE_URL: is required[\s\S]*MASTER_KEY: is required/)
  const away = await cli('tenants list', { ...env, DATABASE_URL: 'postgres://x@127.0.0.1:9/x' })
  assert.match(away.err, /out of reach/)
  assert.match(
    (await cli('doctor', { ...env, DATABASE_URL: 'postgres://x@127.0.0.1:9/x' })).out,
    /✗ database +cannot be reached \(ECONNREFUSED\)/,
  )
  assert.equal((await cli('nonsense')).code, 2)
})

test('help names every command, and every command has its own', async () => {
  const { out } = await cli('help')
  for (const { name, summary, load } of COMMANDS) {
    assert.ok(out.includes(`\n  ${name} `))
    const { usage } = await load()
    assert.ok((await cli(`${name} --help`)).out.startsWith(`${summary}.\n\n${usage}`))
  }
  assert.match((await cli('--version')).out, /^\d+\.\d+\.\d+$/)
})
