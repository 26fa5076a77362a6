import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createInstallation } from '../testing/installation.ts'

const { cli } = await createInstallation('node_models')
before(async () => {
  await cli('migrate')
  for (const tenant of ['Fjord', 'Skerry']) await cli(`tenants create ${tenant}`)
})

const DECLARE = 'node models declare OURS_2 --tenant Fjord --length 256 --threshold 0.45 --slope 12.5'

test('a model is declared, declared again, listed for its tenant only, and removed', async () => {
  assert.equal((await cli('node models list --tenant Fjord')).out, 'No model is declared.')
  const made = await cli(DECLARE)
  assert.equal(made.code, 0, made.err)
  assert.match(made.out, /OURS_2 +256 +0\.45 +12\.5 +0\.3391 +0\.3621 +0\.9999 +\d{4}-/)
  assert.equal(made.err, 'Served in all processes within 5 seconds.')
  assert.equal((await cli(DECLARE)).err, 'Nothing to do: it is declared with these values.')
  const other = await cli(DECLARE.replace('12.5', '13'))
  assert.deepEqual([other.code, /is declared with other values/.test(other.err)], [1, true])
  const [record] = JSON.parse((await cli('node models list --tenant Fjord --json')).out)
  assert.deepEqual([record.name, record.length, record.near], ['OURS_2', 256, 0.3391])
  assert.equal((await cli('node models list --tenant Skerry --json')).out, '[]')
  assert.match((await cli('node reindex --tenant Fjord --model OURS_2')).out, /^0 spaces rebuilt/)
  assert.match((await cli('node reindex --all --model OURS_2')).out, /^0 spaces rebuilt/)
  assert.equal((await cli('node reindex --tenant Skerry --model OURS_2')).code, 2)
  assert.equal((await cli('node models remove OURS_2 --tenant Skerry')).code, 1)
  assert.match((await cli('node models remove OURS_2 --tenant Fjord')).out, /^OURS_2 is removed/)
  assert.equal((await cli('node models list --tenant Fjord --json')).out, '[]')
})

test('what is missing or cannot be is named', async () => {
  const cases: [line: string, code: number, said: RegExp][] = [
    ['node models declare --tenant Fjord', 2, /^Name the new model/],
    ['node models declare X --tenant Fjord --threshold 0.4 --slope 9', 2, /^--length is required/],
    ['node models declare X --tenant Fjord --length 200 --slope 9', 2, /^--threshold is required/],
    ['node models declare X --tenant Fjord --length 200 --threshold 0.4', 2, /^--slope is required/],
    ['node models declare X --length 200 --threshold 0.4 --slope 9', 2, /^--tenant is required/],
    [
      'node models declare X --tenant Fjord --length 2e2 --threshold 0.4 --slope 9',
      2,
      /^--length must be a whole number/,
    ],
    ['node models declare X --tenant Fjord --length 200 --threshold .4 --slope 9', 2, /^--threshold must be a number/],
    [
      'node models declare X --tenant Fjord --length 127 --threshold 0.4 --slope 9',
      1,
      /\/length must be .* 128 to 512/,
    ],
    [
      'node models declare FACE3_3 --tenant Fjord --length 512 --threshold 0.4 --slope 9',
      1,
      /must not begin with FACE3_/,
    ],
    ['node models remove FACE3_3 --tenant Fjord', 1, /There is no such model/],
  ]
  for (const [line, code, said] of cases) {
    const result = await cli(line)
    assert.equal(result.code, code, line)
    assert.match(result.err, said)
  }
})
