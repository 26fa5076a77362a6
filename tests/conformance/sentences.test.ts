import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ROOT } from '@ostiary/testkit/run'

/** A beginning such as "1. **Context.** " does not count. */
const BEGINNING = /^[\s>]*(?:[-*] |\d+\. )?(?:(\*\*?)[^*]*\1)?/
/** Sentences in brackets or quotation marks and names in code do not count. */
const PARTS = [/`[^`]*`/g, /\([^()]*\)/g, /“[^”]*”/g, /"[^"]*"/g]
const SECOND_SENTENCE = /(?<!\b(?:e\.g|i\.e|etc|vs|[A-Z])\.)(?<=[a-z0-9_*][.!?]["”’)*_]*) +(?=[A-Z_*[])/

const proseOf = (text: string) =>
  text
    .replace(/^---\n[\s\S]*?\n---$|^( *)(```+)[\s\S]*?\n\1\2$|<!--[\s\S]*?-->/gm, (block) =>
      block.replace(/[^\n]/g, ''),
    )
    .split('\n')
    .map((line) => (/^\s*(?:\||#|<)/.test(line) ? '' : line))

const crowded = (line: string) =>
  SECOND_SENTENCE.test(PARTS.reduce((text, part) => text.replace(part, '_'), line.replace(BEGINNING, '')))

test('a line of a document holds one sentence, so that a change of one sentence is a change of one line', () => {
  const files = globSync(['*.md', '{apps,clients,deploy,docs,measures,models,packages,tests,tools}/**/*.md'], {
    cwd: ROOT,
    exclude: ['**/node_modules/**'],
  })
  const texts = files.map((path) => ({ path, text: readFileSync(`${ROOT}${path}`, 'utf8') }))
  assert.ok(texts.length > 50)
  const found = texts.flatMap(({ path, text }) =>
    proseOf(text).flatMap((line, index) => (crowded(line) ? [`${path}:${index + 1} ${line}`] : [])),
  )
  assert.deepEqual(found, [])
})

test('two sentences are seen, whatever stands around them; abbreviations, brackets and code are not two sentences', () => {
  for (const line of ['One. Two.', '- One thing! *Two* things.', '   It is `a`. [Link](b.md).', '**Lead.** One. Two.'])
    assert.ok(crowded(line), line)
  for (const line of [
    'e.g. One',
    '**Lead.** One.',
    'It is 0.5 (One. Two.) here.',
    '`a. B`',
    'A "One. Two." b',
    'M. Example',
  ])
    assert.ok(!crowded(line), line)
})
