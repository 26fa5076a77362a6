import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blocksOf } from './extract.ts'

const fenced = (info: string, code = 'x') => `# A\n\n\`\`\`${info}\n${code}\n\`\`\`\n`
const plain = { continues: false, keepsRunning: false }

test('a block has its document, line, language and code', () => {
  assert.deepEqual(blocksOf('a.md', fenced('bash', 'ls\n\npwd')), [
    { document: 'a.md', line: 3, language: 'sh', code: 'ls\n\npwd', ...plain },
  ])
})

test('a block in a list loses the indent of its fence only', () => {
  const [block] = blocksOf('a.md', '1. One\n\n   ```python\n   if x:\n     y\n   ```\n')
  assert.equal(block?.code, 'if x:\n  y')
})

test('a fence in a longer fence is no block', () => {
  assert.deepEqual(blocksOf('a.md', '````\n```sh\nls\n```\n````\n'), [])
})

test('marks are read', () => {
  const [block] = blocksOf('a.md', fenced('ts continues keeps-running from="a/b.ts" not-run="needs Docker"'))
  assert.deepEqual(
    { ...block },
    {
      document: 'a.md',
      line: 3,
      language: 'ts',
      code: 'x',
      continues: true,
      keepsRunning: true,
      from: 'a/b.ts',
      notRun: 'needs Docker',
    },
  )
})

test('what nobody would find later is refused with its place', () => {
  const refused: [string, RegExp][] = [
    ['sh not-run', /a\.md:3: "" is no reason/],
    ['sh not-run="is slow"', /a\.md:3: "is slow" is no reason/],
    ['sh nor-run="needs Docker"', /a\.md:3: there is no mark nor-run/],
    ['zsh', /a\.md:3: the language "zsh" is not known/],
    ['sql continues', /a\.md:3: marks are for code/],
  ]
  for (const [info, message] of refused) assert.throws(() => blocksOf('a.md', fenced(info)), message)
  assert.throws(() => blocksOf('a.md', '```sh\nls\n'), /a\.md:1: the block has no end/)
})

test('plain fences and tables of settings are left alone', () => {
  assert.deepEqual(blocksOf('a.md', fenced('') + fenced('sql')), [])
})
