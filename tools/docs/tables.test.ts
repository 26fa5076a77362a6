import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withTables } from './table.ts'
import { retentionList, tableList } from './tables.ts'

const TABLES = [
  {
    room: 'sessions',
    table: 'sessions',
    key: 'id',
    partitions: 'a partition per day',
    growsWith: 'creates',
    after: '68 days',
    by: 'drop',
  },
  { room: 'keys', table: 'tenants', key: 'tenant_id', growsWith: 'customers', after: 'until removed', by: null },
]

test('a table is named with its room and its partitions, or with how long a row is kept and the job that deletes it', () => {
  assert.deepEqual(tableList(TABLES).split('\n').slice(2), [
    '| `sessions` (a partition per day) | `sessions` | `id` | creates |',
    '| `tenants` | `keys` | `tenant_id` | customers |',
  ])
  assert.deepEqual(retentionList(TABLES).split('\n').slice(2), [
    '| `sessions` | 68 days | `drop` |',
    '| `tenants` | until removed |  |',
  ])
})

test('the table behind its mark is replaced, and nothing else', () => {
  const marked = 'before\n\n<!-- generated: x -->\n\n| old |\n|---|\n\nafter\n\n| other |\n'
  const written = withTables(marked, { x: '| new |' })
  assert.equal(written, marked.replace('| old |\n|---|', '| new |'))
  assert.equal(withTables(written, { x: '| new |' }), written)
  assert.equal(withTables('<!-- generated: x -->\n\n', { x: '| new |' }), '<!-- generated: x -->\n\n| new |\n')
  assert.throws(() => withTables('no mark', { x: '' }), /lost its mark/)
})
