import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { parseMasterKeys } from '@ostiary/service-kit/sealing'
import { createKeyVault, masterKeyId } from './key-vault.ts'

const [first, second] = [randomBytes(32), randomBytes(32)]
const secret = Buffer.from('ost_test_secret')

test('a sealed value opens only in its own row', async () => {
  const vault = createKeyVault([first])
  const sealed = await vault.seal(secret, 'row/1')
  assert.deepEqual(await vault.open(sealed, 'row/1'), secret)
  await assert.rejects(vault.open(sealed, 'row/2'))
  assert.equal(sealed.blob.includes(secret), false)
})

test('sealing twice gives different bytes; a value with any changed byte does not open', async () => {
  const vault = createKeyVault([first])
  const [a, b] = [await vault.seal(secret, 'row'), await vault.seal(secret, 'row')]
  assert.notDeepEqual(a.blob, b.blob)
  for (let i = 0; i < a.blob.length; i++) {
    const blob = Buffer.from(a.blob)
    blob[i] = (blob[i] ?? 0) ^ 1
    await assert.rejects(vault.open({ ...a, blob }, 'row'), `byte ${i}`)
  }
  await assert.rejects(vault.open({ ...a, blob: a.blob.subarray(0, 20) }, 'row'))
})

test('a new master key seals; the old one still opens what it sealed', async () => {
  const old = await createKeyVault([first]).seal(secret, 'row')
  const rotated = createKeyVault([second, first])
  assert.deepEqual(await rotated.open(old, 'row'), secret)
  assert.equal((await rotated.seal(secret, 'row')).masterKeyId, masterKeyId(second))
  await assert.rejects(createKeyVault([second]).open(old, 'row'), /not among the configured/)
})

test('master keys are read one per line; anything weak or broken is refused without being quoted', () => {
  const text = `# current\n${first.toString('base64')}\n\n${second.toString('base64')} # old\n`
  assert.deepEqual(parseMasterKeys(text), [first, second])
  for (const bad of [
    '',
    '# only a comment',
    'changeme',
    randomBytes(16).toString('base64'),
    Buffer.alloc(32, 7).toString('base64'),
    `${first.toString('base64')}!`,
  ]) {
    assert.throws(
      () => parseMasterKeys(bad),
      (error: Error) => bad.length < 8 || !error.message.includes(bad.slice(0, 8)),
    )
  }
})
