import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blocksOf } from './extract.ts'
import { forThisMachine, portsIn, programsOf, scriptOf } from './programs.ts'

const DOCUMENT = `# A
\`\`\`sh
ls
\`\`\`
\`\`\`ts
const a = 1
\`\`\`
\`\`\`sh not-run="needs root"
reboot
\`\`\`
\`\`\`ts continues
console.log(a)
\`\`\`
\`\`\`sh keeps-running
PORT=9000 serve
\`\`\`
`
const blocks = blocksOf('docs/a.md', DOCUMENT)
const numbered = (text: string) =>
  Object.fromEntries(text.split('\n').flatMap((line, at) => (line ? [[at + 1, line]] : [])))

test('blocks that continue each other are one program, at their lines', () => {
  const [program, ...others] = programsOf(blocks)
  assert.deepEqual(others, [])
  assert.equal(program?.file, 'docs__a.md/5.ts')
  assert.deepEqual(numbered(program?.text ?? ''), { 6: 'const a = 1', 12: 'console.log(a)' })
  assert.throws(() => programsOf(blocksOf('a.md', '```ts continues\na\n```\n')), /a\.md:1: there is no block/)
})

test('the script has what is run, at its lines, and calls programs where they end', () => {
  assert.deepEqual(numbered(scriptOf(blocks)), {
    2: 'begin 2',
    3: 'ls',
    11: 'begin 11; node "$BLOCKS/docs__a.md/5.ts"',
    14: 'begin 14; {',
    15: 'PORT=9000 serve',
    16: '} & until_started $! 9000',
  })
})

test('a script can be a part of the document, or lack a language', () => {
  assert.deepEqual(numbered(scriptOf(blocks, { before: 5 })), { 2: 'begin 2', 3: 'ls' })
  assert.deepEqual(Object.keys(numbered(scriptOf(blocks, { after: 4, without: ['ts'] }))), ['14', '15', '16'])
})

test('PHP without its opening tag gets it in the line of the fence', () => {
  assert.equal(programsOf(blocksOf('a.md', '\n```php\necho 1;\n```\n'))[0]?.text, '\n<?php\necho 1;\n')
  assert.equal(programsOf(blocksOf('a.md', '\n```php\n<?php\necho 1;\n```\n'))[0]?.text, '<?php\necho 1;\n')
})

test('ports that are taken are moved, and nothing else that looks like one', () => {
  const code =
    'PORT=9000 x; curl localhost:8080/a 127.0.0.1:9000; app.listen(3000); wait 9000; https://ostiary.example.com/b'
  const moved = new Map([
    [8080, 18080],
    [9000, 19000],
  ])
  assert.deepEqual(portsIn(code), [9000, 8080, 9000, 3000])
  assert.equal(
    forThisMachine(code, moved),
    'PORT=19000 x; curl localhost:18080/a 127.0.0.1:19000; app.listen(3000); wait 9000; http://localhost:18080/b',
  )
})
