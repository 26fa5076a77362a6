import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkTenants, tenantTables } from './tenants.ts'

const MIGRATIONS = [
  {
    path: '0001.sql',
    text: 'create table strings (\n  tenant_id uuid not null,\n  value text\n);\ncreate table days (\n  day date\n);\n',
  },
  { path: '0002.sql', text: 'alter table strings rename to texts;\n' },
]
const TABLES = tenantTables(MIGRATIONS)
const PATH = 'apps/server/src/strings/store.ts'
const check = (text: string, across: Record<string, string> = {}, path = PATH) =>
  checkTenants([{ path, text }], TABLES, across).map(({ line, message }) => `${line}: ${message}`)
const statement = (text: string) => `const A = sql('strings.a', \`${text}\`)\n`
const FOUND = ['1: the statement strings.a touches tenants’ rows and names no tenant']

test('the tables with a tenant are read from the migrations, under their new names too', () => {
  assert.deepEqual(TABLES, ['strings', 'texts'])
})

test('a planted statement without the tenant is found', () => {
  for (const text of [
    'select value from strings where id = $1',
    'delete from strings where id = any($1)',
    'update texts set value = $2 where id = $1',
    'select tenant_id from strings',
    'select 1 from days d join strings s on s.tenant_id = d.tenant_id where d.day = $1',
    'with gone as (delete from strings returning id) select id from gone',
  ])
    assert.deepEqual(check(statement(text)), FOUND, text)
  const daily = `const A = dayStatement('strings.a', (day) => \`select value from strings\${day} where id = $1\`)\n`
  assert.deepEqual(check(daily), FOUND, 'of one day')
})

test('a statement that names a given tenant passes, also through a constant of its file', () => {
  for (const text of [
    'select value from strings where tenant_id = $1 and id = $2',
    'select value from strings s where s.tenant_id = any($1)',
    'insert into strings (tenant_id, value) values ($1, $2)',
    'delete from strings s using unnest($1::uuid[], $2::uuid[]) as t (tenant_id, id) where s.tenant_id = t.tenant_id and s.id = t.id',
    'select day from days',
  ])
    assert.deepEqual(check(statement(text)), [], text)
  const owner = `const OWNER = 'tenant_id = $1 and livemode = $2'\nconst BY = \`\${OWNER} and id = $3\`\n`
  assert.deepEqual(check(`${owner}${statement(`select value from strings where \${BY}`)}`), [])
})

test('a statement on the list passes, and a name on it that needs no exception is found', () => {
  const all = statement('select value from strings')
  assert.deepEqual(check(all, { 'strings.a': 'a job' }), [])
  const stale = ['1: lists the statement strings.b, which needs no exception']
  assert.deepEqual(check(all, { 'strings.a': 'a job', 'strings.b': 'a job' }), stale)
  assert.deepEqual(check(all, {}, 'apps/server/src/strings/store.test.ts'), [], 'tests may read everything')
  assert.deepEqual(check("const A = sql('', 'select 1 from strings')\n", { [PATH]: 'a job' }), [])
})
