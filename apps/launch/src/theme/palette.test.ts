import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BRAND_INK, BRAND_PAPER, contrastOf } from '@ostiary/contract'
import { paletteOf, type Scheme, SURFACE } from './palette.ts'

const SCHEMES: readonly Scheme[] = ['light', 'dark']
const of = (primary: string | null, scheme: Scheme, background: string | null = null) =>
  paletteOf({ primary, background }, scheme)

test('a colour with enough contrast stays as the tenant chose it', () => {
  assert.deepEqual(of('#0a5c8f', 'light'), {
    accent: '#0a5c8f',
    onAccent: BRAND_PAPER,
    accentEdge: '#0a5c8f',
    accentText: '#0a5c8f',
  })
})

test('for every primary colour, buttons, their text and links are readable in both schemes', () => {
  const steps = ['00', '33', '66', '99', 'cc', 'ff']
  for (const red of steps)
    for (const green of steps)
      for (const blue of steps)
        for (const scheme of SCHEMES) {
          const primary = `#${red}${green}${blue}`
          const { accent = '', onAccent = '', accentEdge = '', accentText = '' } = of(primary, scheme)
          assert.ok(contrastOf(accent, onAccent) >= 4.5, `${primary} ${scheme}: text on the button`)
          assert.ok(contrastOf(accentEdge, SURFACE[scheme]) >= 3, `${primary} ${scheme}: edge of the button`)
          assert.ok(contrastOf(accentText, SURFACE[scheme]) >= 4.5, `${primary} ${scheme}: link`)
        }
})

test('a light yellow stays, with dark text; on white it gets an edge', () => {
  for (const scheme of SCHEMES) {
    const { accent, onAccent } = of('#ffe000', scheme)
    assert.deepEqual([accent, onAccent], ['#ffe000', BRAND_INK])
  }
  assert.notEqual(of('#ffe000', 'light').accentEdge, '#ffe000')
  assert.equal(of('#ffe000', 'dark').accentEdge, '#ffe000')
})

test('a mid tone on which no text is readable is changed', () => {
  const grey = '#7b7b7b'
  assert.ok(contrastOf(grey, BRAND_INK) < 4.5 && contrastOf(grey, BRAND_PAPER) < 4.5)
  assert.notEqual(of(grey, 'light').accent, grey)
})

test('a background applies only in the scheme that it fits', () => {
  assert.deepEqual(of(null, 'light', '#f4f0e6'), { backdrop: '#f4f0e6', onBackdrop: BRAND_INK })
  assert.deepEqual(of(null, 'dark', '#f4f0e6'), {})
  assert.deepEqual(of(null, 'dark', '#101a2b'), { backdrop: '#101a2b', onBackdrop: BRAND_PAPER })
  assert.deepEqual(of(null, 'light', '#101a2b'), {})
})

test('an invalid colour changes nothing', () => {
  for (const text of ['red', '#fff', '#12345g', 'url(x)', '']) assert.deepEqual(of(text, 'light', text), {})
})
