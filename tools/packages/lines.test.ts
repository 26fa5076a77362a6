import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withLines } from './lines.ts'

const CODE = 'const a=`x;{y}`;function f(b){if(b)return"é;";return`;`}class C{#d=1;e(){return f(this.#d)}}export{C,f};'

test('statements and members begin lines, and texts stay as they are', () => {
  assert.equal(
    withLines(CODE, 1),
    [
      'const a=`x;{y}`;',
      'function f(b){',
      'if(b)return"é;";',
      'return`;`}',
      'class C{',
      '#d=1;',
      'e(){',
      'return f(this.#d)}}',
      'export{C,f};',
    ].join('\n'),
  )
})

test('short ones share a line', () => {
  assert.equal(withLines(CODE), CODE)
})
