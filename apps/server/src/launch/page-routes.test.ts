import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isKnown } from '../platform/etag.ts'
import { acceptsGzip } from './page-routes.ts'

test('a caller accepts gzip when it names gzip or *, unless its weight is 0', () => {
  const accepts = (value?: string) => acceptsGzip({ headers: value === undefined ? {} : { 'accept-encoding': value } })
  for (const value of ['gzip', 'gzip, deflate, br, zstd', 'br;q=1.0, GZIP;q=0.8', '*', 'br, *;q=0.1', 'gzip ; q=0.001'])
    assert.equal(accepts(value), true, value)
  for (const value of [
    undefined,
    '',
    'br',
    'identity',
    'gzip;q=0',
    'gzip;q=0.000',
    '*;q=0',
    'gzip;q=0, *',
    'x-gzip',
    'gzip;q=x',
  ])
    assert.equal(accepts(value), false, String(value))
})

test('a cached file is recognised by its tag, weak or strong, alone or in a list', () => {
  const isHeld = (value?: string) =>
    isKnown({ headers: value === undefined ? {} : { 'if-none-match': value } }, '"tag"')
  for (const value of ['"tag"', 'W/"tag"', '"a", "tag"', ' W/"b" , W/"tag" ', '*'])
    assert.equal(isHeld(value), true, value)
  for (const value of [undefined, '', 'tag', '"tag.gz"', '"TAG"', '"a" "tag"'])
    assert.equal(isHeld(value), false, String(value))
})
