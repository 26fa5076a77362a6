import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brandErrors, embedOriginProblem, embedOriginsFor } from './branding.ts'

const dataUrl = (type: string, content: string | Buffer) =>
  `data:image/${type};base64,${Buffer.from(content).toString('base64')}`
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const WEBP = Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1')
const SVG =
  '\ufeff<?xml version="1.0"?>\n<!-- <g> drawn by hand -->\n<!DOCTYPE svg>\n<svg xmlns="http://www.w3.org/2000/svg"/>'
const WRONG_TYPE = [{ pointer: '/brand/logo', message: 'is not a picture of the type that its data URL names' }]

describe('a brand', () => {
  test('may have a logo in each of the three formats, or none', () => {
    for (const logo of [
      dataUrl('png', PNG),
      dataUrl('webp', WEBP),
      dataUrl('svg+xml', SVG),
      dataUrl('svg+xml', '<svg>'),
    ])
      assert.deepEqual(brandErrors({ name: 'Fjord', logo }), [], logo)
    assert.deepEqual(brandErrors({ name: 'Fjord' }), [])
    assert.deepEqual(brandErrors({ name: 'Fjord', logo: null, primary: null, background: null }), [])
  })

  test('may not have a logo that is something else than it says', () => {
    for (const logo of [
      dataUrl('png', WEBP),
      dataUrl('webp', PNG),
      dataUrl('png', SVG),
      dataUrl('svg+xml', PNG),
      dataUrl('svg+xml', '<html><svg></svg></html>'),
      dataUrl('svg+xml', '<svgs>'),
      dataUrl('svg+xml', 'a text with <svg> in it'),
    ])
      assert.deepEqual(brandErrors({ name: 'Fjord', logo }), WRONG_TYPE, logo)
  })

  test('has a name as it is read: one line, nothing hidden in it', () => {
    for (const name of ['Fjord Rentals', 'Ærø & Sønner', '東京', 'می\u200cخواهم', 'קפה'])
      assert.deepEqual(brandErrors({ name }), [], name)
    const message = 'must be one line without spaces around it and without invisible characters'
    for (const name of [
      ' Fjord',
      'Fjord\t',
      'Fjord\nBank',
      'Bank\u202edrojF',
      'Fj\u200bord',
      '\ufeffFjord',
      'a\u2028b',
      'Fj\u00adord',
      'Fj\u034ford',
      'Fjord\u115f',
      '\u2800Fjord',
      'Fjord\u200d',
      '\u200cFjord',
      'Fj \u200dord',
      'Fjord\u{e0041}',
      'Fjord\ufe0f',
    ])
      assert.deepEqual(brandErrors({ name }), [{ pointer: '/brand/name', message }], JSON.stringify(name))
    // Persian and Sinhala need joiners between letters, and marks may stand before them.
    for (const name of ['نمی\u200cدانم', 'ශ්\u200dරී', 'Fjord & Söhne', '株式会社'])
      assert.deepEqual(brandErrors({ name }), [], name)
  })

  test('may not have colours that make text unreadable, and the error names them with the reason', () => {
    const details = brandErrors({
      name: 'Fjord',
      primary: '#7a7a7a',
      background: '#808080',
      logo: dataUrl('png', SVG),
    })
    assert.deepEqual(
      details.map(({ pointer }) => pointer),
      ['/brand/primary', '/brand/primary', '/brand/logo'],
    )
    assert.match(details[0]?.message ?? '', /^leaves text a contrast of 4\.29, and it needs 4\.5/)
    assert.match(details[1]?.message ?? '', /^has a contrast of 1\.08 to the background/)
  })
})

describe('an origin that may frame the page', () => {
  test('is https, or this machine for trying things out', () => {
    for (const origin of [
      'https://shop.example',
      'https://a.b-c.shop.example:8443',
      'http://localhost:3000',
      'http://127.0.0.1:5173',
      'https://localhost',
    ])
      assert.equal(embedOriginProblem(origin), undefined, origin)
    assert.equal(embedOriginProblem('http://shop.example'), 'must be https; http is for localhost only')
  })

  test('is an origin exactly, and cannot carry anything else into a header', () => {
    for (const entry of [
      'https://shop.example/',
      'https://shop.example/path',
      'https://Shop.example',
      'https://shop.example:443',
      'https://*.shop.example',
      'https://user@shop.example',
      "https://a.example; script-src 'unsafe-inline'",
      'https://a.example;script-src',
      'https://a.example,https://b.example',
      'https://a.example https://b.example',
      'https://a.example\nx: y',
      'https://',
      'https://-.example:99999',
      'http://[::1]:3000',
      'ftp://shop.example',
      'null',
      'shop.example',
      '*',
    ])
      assert.match(embedOriginProblem(entry) ?? '', /^must be an origin such as/, entry)
  })

  test('counts for live sessions only when it is https', () => {
    const origins = ['https://shop.example', 'http://localhost:3000']
    assert.deepEqual(embedOriginsFor(origins, true), ['https://shop.example'])
    assert.deepEqual(embedOriginsFor(origins, false), origins)
  })
})
