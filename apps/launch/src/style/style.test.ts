import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')
const declaredIn = (file: string) => new Set(Array.from(read(file).matchAll(/(--[\w-]+):/g), ([, name = '']) => name))

test('colours and the settings of scripts have names of their own: the later file would win without a word', () => {
  const [colours, scripts] = [declaredIn('tokens.css'), declaredIn('scripts.css')]
  assert.ok(colours.has('--line') && scripts.has('--line-title'))
  assert.deepEqual(
    [...colours].filter((name) => scripts.has(name)),
    [],
  )
})
