import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { createIds } from '../platform/ids.ts'
import { createKeyVault, type KeyVault } from '../platform/key-vault.ts'
import { createManualClock } from '../platform/testing/manual-clock.ts'
import { createMessageOpener, createMessageSealer } from './envelope.ts'

function setUp() {
  const clock = createManualClock()
  const vault = createKeyVault([randomBytes(32)])
  let sealed = 0
  let isAway = false
  const counted: KeyVault = {
    ...vault,
    seal(secret, context) {
      sealed++
      return isAway ? Promise.reject(new Error('away')) : vault.seal(secret, context)
    },
  }
  return {
    clock,
    vault,
    seal: createMessageSealer({ vault: counted, clock, ids: createIds(clock) }),
    open: createMessageOpener(vault),
    timesSealed: () => sealed,
    setAway(away: boolean) {
      isAway = away
    },
  }
}

describe('a sealed message', () => {
  test('opens in its own row only, in a process that knows only the master key', async () => {
    const { seal, open, vault } = setUp()
    const message = Buffer.from('{"body":"Grüße"}')
    const sealed = await seal(message, 'row 1')
    assert.deepEqual(await open(sealed, 'row 1'), message)
    assert.deepEqual(await createMessageOpener(vault)(sealed, 'row 1'), message)
    await assert.rejects(async () => open(sealed, 'row 2'))
    assert.ok(!sealed.blob.includes('body'))
  })

  test('does not open when any of its bytes is changed, or when it is cut', async () => {
    const { seal, vault } = setUp()
    const sealed = await seal(Buffer.from('message'), 'row')
    for (let at = 0; at < sealed.blob.length; at++) {
      const blob = Buffer.from(sealed.blob)
      blob[at] = (blob[at] ?? 0) ^ 1
      await assert.rejects(async () => createMessageOpener(vault)({ ...sealed, blob }, 'row'), `byte ${at}`)
    }
    for (const length of [0, 1, 3, 50, sealed.blob.length - 1]) {
      const blob = sealed.blob.subarray(0, length)
      await assert.rejects(async () => createMessageOpener(vault)({ ...sealed, blob }, 'row'), `${length} bytes`)
    }
  })

  test('of another master key does not open', async () => {
    const { seal } = setUp()
    const sealed = await seal(Buffer.from('message'), 'row')
    await assert.rejects(async () => createMessageOpener(createKeyVault([randomBytes(32)]))(sealed, 'row'))
  })

  test('is never the same twice, and may be empty', async () => {
    const { seal, open } = setUp()
    const [first, second] = [await seal(Buffer.of(), 'row'), await seal(Buffer.of(), 'row')]
    assert.notDeepEqual(first.blob, second.blob)
    assert.equal((await open(second, 'row')).length, 0)
  })
})

test('the vault is called once an hour, even if many messages are sealed at once', async () => {
  const { seal, open, clock, timesSealed } = setUp()
  const many = await Promise.all(Array.from({ length: 50 }, () => seal(Buffer.from('m'), 'row')))
  assert.equal(timesSealed(), 1)
  clock.advance(3_599_999)
  await seal(Buffer.from('m'), 'row')
  assert.equal(timesSealed(), 1)
  clock.advance(1)
  const later = await Promise.all(Array.from({ length: 50 }, () => seal(Buffer.from('later'), 'row')))
  assert.equal(timesSealed(), 2)
  for (const sealed of [...many, ...later]) await open(sealed, 'row')
})

test('the vault is called again after a failure', async () => {
  const { seal, setAway, timesSealed } = setUp()
  setAway(true)
  await assert.rejects(seal(Buffer.from('m'), 'row'), /away/)
  setAway(false)
  await seal(Buffer.from('m'), 'row')
  assert.equal(timesSealed(), 2)
})
