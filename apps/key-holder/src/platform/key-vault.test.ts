import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createKeyVault } from './key-vault.ts'

const [first, second] = [randomBytes(32), randomBytes(32)]
const secret = Buffer.from('a share of a key')

test('what is sealed opens in its own row alone, and two sealed copies differ', () => {
  const vault = createKeyVault([first])
  const sealed = vault.seal(secret, 'row 1')
  assert.deepEqual(vault.open(sealed, 'row 1'), secret)
  assert.throws(() => vault.open(sealed, 'row 2'))
  assert.notDeepEqual(vault.seal(secret, 'row 1').blob, sealed.blob)
  assert.ok(!sealed.blob.includes(secret))
})

test('a changed byte, wherever it is, is found', () => {
  const vault = createKeyVault([first])
  const { masterKeyId, blob } = vault.seal(secret, 'row')
  for (let at = 0; at < blob.length; at++) {
    const changed = Buffer.from(blob)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.throws(() => vault.open({ masterKeyId, blob: changed }, 'row'), `byte ${at}`)
  }
  assert.throws(() => vault.open({ masterKeyId, blob: blob.subarray(0, 20) }, 'row'), /Not a sealed value/)
})

test('the first master key seals, all open, and an unknown one is named by its id only', () => {
  const old = createKeyVault([first]).seal(secret, 'row')
  const both = createKeyVault([second, first])
  assert.deepEqual(both.open(old, 'row'), secret)
  assert.equal(both.seal(secret, 'row').masterKeyId, createKeyVault([second]).currentKeyId)
  assert.throws(() => createKeyVault([second]).open(old, 'row'), /^Error: The master key [0-9a-f]{12} is not among/)
})
