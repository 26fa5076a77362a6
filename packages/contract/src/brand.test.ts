import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BRAND_INK, BRAND_PAPER, brandProblems, contrastOf, textOn } from './brand.ts'

const rounded = (ratio: number) => Math.round(ratio * 100) / 100

test('contrast is that of WCAG: nothing to itself, 21 from black to white, 4.48 for the grey that just fails', () => {
  assert.equal(contrastOf('#345678', '#345678'), 1)
  assert.equal(rounded(contrastOf('#000000', '#ffffff')), 21)
  assert.equal(rounded(contrastOf('#ffffff', '#777777')), 4.48)
  assert.equal(rounded(contrastOf('#767676', '#ffffff')), 4.54)
  assert.equal(contrastOf('#FF0000', '#ffffff'), contrastOf('#ffffff', '#ff0000'))
})

test('text is dark on light grounds and white on dark ones', () => {
  for (const light of ['#ffffff', '#ffd400', '#9fd8cb', '#ff8a65']) assert.equal(textOn(light), BRAND_INK, light)
  for (const dark of ['#000000', '#0b57d0', '#7a1fa2', '#1b5e20']) assert.equal(textOn(dark), BRAND_PAPER, dark)
})

test('colours with readable text are accepted, also if one of the two is missing', () => {
  assert.deepEqual(brandProblems({ primary: '#0b57d0', background: '#ffffff' }), [])
  assert.deepEqual(brandProblems({ primary: '#ffd400', background: '#101418' }), [])
  assert.deepEqual(brandProblems({ primary: '#ffd400', background: null }), [])
  assert.deepEqual(brandProblems({ primary: null, background: null }), [])
})

test('a mid tone is refused, because neither dark nor white text is readable on it', () => {
  const message = 'leaves text a contrast of 4.29, and it needs 4.5: choose a lighter or a darker colour'
  assert.deepEqual(brandProblems({ primary: '#7a7a7a', background: null }), [{ field: 'primary', message }])
  assert.deepEqual(brandProblems({ primary: null, background: '#7a7a7a' }), [{ field: 'background', message }])
})

test('a button without contrast to its background is refused', () => {
  assert.deepEqual(brandProblems({ primary: '#ffd400', background: '#ffffff' }), [
    { field: 'primary', message: 'has a contrast of 1.43 to the background, and a button needs 3 to be seen' },
  ])
})

test('every colour gets a text of at least 4, and what passes has one of 4.5', () => {
  for (let grey = 0; grey < 256; grey++) {
    const colour = `#${grey.toString(16).padStart(2, '0').repeat(3)}`
    const ratio = contrastOf(colour, textOn(colour))
    assert.ok(ratio > 4, colour)
    assert.equal(brandProblems({ primary: colour, background: null }).length === 0, ratio >= 4.5, colour)
  }
})
