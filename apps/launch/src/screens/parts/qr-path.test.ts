import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from 'uqr'
import { qrPath } from './qr-path.ts'

test('adjacent modules of a row become one rectangle', () => {
  const on = true
  const off = false
  assert.equal(
    qrPath([
      [on, on, off, on],
      [off, off, off, off],
      [off, on, on, off],
    ]),
    'M0 0h2v1h-2zM3 0h1v1h-1zM1 2h2v1h-2z',
  )
})

test('the path draws every module of a real code', () => {
  const { data } = encode('https://id.example/launch/?sessionId=0198c5d2-3f77-7c4e-9b7e-3a5d5f0c1a2b#h=abc', {
    border: 0,
  })
  const drawn = data.map((row) => row.map(() => false))
  for (const [, x, y, length] of qrPath(data).matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g))
    for (let step = 0; step < Number(length); step++) (drawn[Number(y)] ?? [])[Number(x) + step] = true
  assert.deepEqual(drawn, data)
})
