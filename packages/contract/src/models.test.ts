import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelSetText, RELEASED_MODELS } from './models.ts'

test('a set of nets has the same text in whatever order they are listed', () => {
  const nets = [
    { id: 'mesh', sha256: 'bb' },
    { id: 'age', sha256: 'aa' },
  ]
  assert.equal(modelSetText(nets), 'age aa\nmesh bb\n')
  assert.equal(modelSetText(nets.toReversed()), modelSetText(nets))
})

test('another digest of one net is another text', () => {
  assert.notEqual(modelSetText([{ id: 'age', sha256: 'aa' }]), modelSetText([{ id: 'age', sha256: 'ab' }]))
})

test('every released set has an id of its own and a digest of SHA-256', () => {
  assert.equal(new Set(RELEASED_MODELS.map(({ id }) => id)).size, RELEASED_MODELS.length)
  for (const { hash } of RELEASED_MODELS) assert.match(hash, /^[A-Za-z0-9_-]{43}$/)
})
