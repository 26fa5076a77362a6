import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { assertError } from '../testing/harness.ts'
import { createAgeHost } from './testing/fixture.ts'

const { fixture, host } = await createAgeHost({}, { settings: { redirectCode: true } })

const hashOf = (code: string) => createHash('sha256').update(code).digest('hex')

test('with `redirectCode` the redirect carries a code, the result its hash, and the host confirms it once', async () => {
  const { token, sessionId } = await host.create()
  assert.equal('codeHash' in (await host.result(token)), false, 'an open session has no code')
  const { code = assert.fail('no code'), redirectUrl } = await fixture.visit(sessionId)
  assert.equal(
    redirectUrl,
    `https://shop.example/back?state=7&sessionId=${sessionId}&flowStatus=COMPLETED&code=${code}`,
  )
  assert.equal((await host.result(token)).codeHash, hashOf(code))
  const confirm = (sent: string) => host.call('POST', `/session/${token}/confirm`, { code: sent })
  assertError(await confirm('another'), 409, 'CODE_WRONG', 'This is not the code of the session')
  const confirmed = await confirm(code)
  const confirmedAt = fixture.harness.clock.now().toISOString()
  assert.deepEqual(confirmed.json(), {
    sessionId,
    flowStatus: 'COMPLETED',
    outcome: 'SUCCEEDED',
    confirmedAt,
    livemode: false,
  })
  assertError(await confirm(code), 409, 'CODE_USED', 'This code was confirmed before')
})

test('a session that expires has no code', async () => {
  const { token, sessionId } = await host.create({ sessionExpiry: 60 })
  await (await fixture.newDevice(sessionId)).device.open()
  fixture.harness.clock.advance(60_001)
  assert.equal((await host.result(token)).codeHash, null)
})

test('without `redirectCode` redirect and result are as they were, and there is nothing to confirm', async () => {
  const plain = await fixture.newHost()
  const { token, sessionId } = await plain.create()
  const { code, redirectUrl } = await fixture.visit(sessionId)
  assert.equal(code, undefined)
  assert.equal(redirectUrl, `https://shop.example/back?state=7&sessionId=${sessionId}&flowStatus=COMPLETED`)
  assert.equal('codeHash' in (await plain.result(token)), false)
  const reply = await plain.call('POST', `/session/${token}/confirm`, { code: 'x' })
  assertError(reply, 409, 'CODE_WRONG', 'This is not the code of the session')
})
