import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { encodeVector } from '@ostiary/crypto'
import { createFaces } from '../biometrics/testing/faces.ts'
import { createVerificationHost } from './testing/fixture.ts'
import { enrolled, visit } from './testing/people.ts'

const faces = createFaces(71)

const { fixture, host } = await createVerificationHost()

describe('ENROLL', () => {
  test('[D-001] registers a face: page and host get the success, and only the host gets the person', async () => {
    const face = faces.person()
    const { sessionId } = await host.create('ENROLL', { transactionID: 'order-7' })
    const state = await visit(fixture, sessionId, face)
    const { state: at, flowStatus, errors, redirectUrl } = state
    assert.deepEqual([at, flowStatus, errors], ['SUCCESS', 'COMPLETED', []])
    assert.equal(
      redirectUrl,
      `https://shop.example/back?state=7&sessionId=${sessionId}&status=SUCCESS&code=${state.code}`,
    )
    const webhook = await host.webhook(sessionId)
    const { status, message, puid, guid, transactionId, matchedBy, estimatedAge } = webhook
    assert.deepEqual([status, message, transactionId], ['SUCCESS', 'Ok', 'order-7'])
    assert.deepEqual([matchedBy, estimatedAge, webhook.errors], [undefined, undefined, []])
    assert.ok(puid && guid && puid !== guid)
    assert.ok(!JSON.stringify(state).includes(puid), 'the page does not learn it')
    assert.equal(webhook.riskEvaluation.signals.behavioral, null)
  })

  test('a face that is enrolled already is the same person, and only the host gets -37', async () => {
    const face = faces.person()
    const puid = await enrolled(fixture, host, face)
    const { sessionId } = await host.create('ENROLL')
    const state = await visit(fixture, sessionId, faces.sample(face, 0.9))
    assert.deepEqual([state.state, state.errors], ['SUCCESS', []])
    const again = await host.webhook(sessionId)
    assert.equal(again.puid, puid)
    assert.deepEqual(again.errors, [{ code: -37, message: 'Already enrolled' }])
  })

  test('the same face in eight sessions at once creates one person', async () => {
    const crowd = await fixture.newHost()
    const face = faces.person()
    const created = await Promise.all(Array.from({ length: 8 }, () => crowd.create('ENROLL')))
    const states = await Promise.all(
      created.map(({ sessionId }) => visit(fixture, sessionId, faces.sample(face, 0.95))),
    )
    assert.deepEqual(
      states.map(({ state }) => state),
      Array.from({ length: 8 }, () => 'SUCCESS'),
    )
    const webhooks = await Promise.all(created.map(({ sessionId }) => crowd.webhook(sessionId)))
    assert.equal(new Set(webhooks.map(({ puid }) => puid)).size, 1)
    assert.equal(webhooks.filter(({ errors }) => errors.length === 0).length, 1, 'one of them was the first')
  })

  test('[D-022] an age is estimated only when it is asked for', async () => {
    const { sessionId } = await host.create('ENROLL', { estimateAge: true })
    const state = await visit(fixture, sessionId, faces.person(), { ageYears: 42 })
    assert.equal(state.state, 'SUCCESS')
    const { estimatedAge } = await host.webhook(sessionId)
    assert.ok(estimatedAge !== undefined && Math.abs(estimatedAge - 42) <= 2, `${estimatedAge}`)
    for (const [body, ageYears] of [
      [{ estimateAge: true }, null],
      [{ estimateAge: false }, 42],
    ] as const) {
      const other = await host.create('ENROLL', body)
      const refused = visit(fixture, other.sessionId, faces.person(), { ageYears })
      await assert.rejects(refused, { code: 'INVALID_PAYLOAD' }, JSON.stringify(body))
    }
  })

  test('a name that belongs to another face enrols nobody', async () => {
    await enrolled(fixture, host, faces.person(), { body: { customerId: 'taken' } })
    const { sessionId } = await host.create('ENROLL', { customerId: 'taken' })
    const state = await visit(fixture, sessionId, faces.person())
    assert.deepEqual([state.state, state.errors], ['FAILED', [-9]])
    const { status, errors, puid } = await host.webhook(sessionId)
    assert.deepEqual([status, errors, puid], ['FAILED', [{ code: -9, message: 'Face does not match' }], undefined])
  })
})

describe('SIGN-IN', () => {
  test('[D-002] [D-036] [D-050] finds the enrolled person and returns their id', async () => {
    const face = faces.person()
    const puid = await enrolled(fixture, host, face)
    const { sessionId } = await host.create('SIGN-IN')
    const state = await visit(fixture, sessionId, faces.sample(face, 0.85))
    assert.deepEqual([state.state, state.flowStatus, state.attempt], ['SUCCESS', 'COMPLETED', 1])
    const webhook = await host.webhook(sessionId)
    assert.deepEqual([webhook.puid, webhook.matchedBy, webhook.errors], [puid, 'server', []])
  })

  test('[D-002] [D-058] [D-059] a stranger has three tries, and then the host gets the body of a failed sign-in', async () => {
    const stranger = await fixture.newHost()
    await enrolled(fixture, stranger, faces.person())
    const { sessionId } = await stranger.create('SIGN-IN', { transactionID: 'login-1' })
    const reported: string[] = []
    const state = await visit(fixture, sessionId, faces.person(), { onStep: (step) => reported.push(step) })
    assert.deepEqual([state.state, state.attempt, state.errors], ['FAILED', 3, [-36]])
    assert.equal(
      state.redirectUrl,
      `https://shop.example/back?state=7&sessionId=${sessionId}&status=FAILED&code=${state.code}`,
    )
    assert.equal(reported.filter((step) => step.startsWith('is asked to try again')).length, 2)
    const { riskEvaluation: _risk, ...webhook } = await stranger.webhook(sessionId)
    assert.deepEqual(webhook, {
      sessionId,
      status: 'error',
      transactionId: 'login-1',
      message: 'User not enrolled',
      errors: [{ code: -36, message: 'User not enrolled' }],
      errorCodes: [-36],
      type: 'SIGN-IN',
      outcome: 'FAILED',
      codeHash: createHash('sha256')
        .update(state.code ?? '')
        .digest('hex'),
      consent: { accepted: true, version: '4', language: 'en', at: webhook.consent?.at },
      livemode: false,
    })
  })

  test('[D-059] [D-061] every detected spoof is code 1, Image spoof: a mask alone, a stream that was made up with 2', async () => {
    for (const [spoof, seen, codes] of [
      ['mask', 1, [1]],
      ['loop', 2, [1, 2]],
    ] as const) {
      const { sessionId } = await host.create('SIGN-IN')
      const state = await visit(fixture, sessionId, faces.person(), { spoof })
      assert.deepEqual([state.state, state.errors], ['FAILED', [seen]], 'the page hears what it always heard')
      const { status, errorCodes, errors, message } = await host.webhook(sessionId)
      assert.deepEqual([status, errorCodes, message], ['error', codes, 'Image spoof'])
      assert.deepEqual(
        errors,
        codes.map((code) => ({ code, message: 'Image spoof' })),
      )
    }
  })

  test('a deleted person is not found', async () => {
    const own = await fixture.newHost()
    const face = faces.person()
    const puid = await enrolled(fixture, own, face)
    assert.ok(
      await fixture.harness.wire.biometrics.recognition.delete({ tenantId: own.tenantId, livemode: false }, puid),
    )
    const { sessionId } = await own.create('SIGN-IN')
    assert.deepEqual((await visit(fixture, sessionId, face)).errors, [-36])
  })

  test('people of another tenant or of the other mode are not found', async () => {
    const face = faces.person()
    await enrolled(fixture, host, face)
    const other = await fixture.newHost()
    const { sessionId } = await other.create('SIGN-IN')
    assert.equal((await visit(fixture, sessionId, face)).state, 'FAILED')
  })
})

describe('VERIFY', () => {
  test('compares with the named person, by puid or by the host’s own name, and returns the nonce', async () => {
    const face = faces.person()
    const puid = await enrolled(fixture, host, face, { body: { customerId: 'c-42' } })
    for (const who of [{ puid, customerId: undefined }, { customerId: 'c-42' }]) {
      const { sessionId } = await host.create('VERIFY', { ...who, nonce: 'n-1' })
      assert.equal((await visit(fixture, sessionId, faces.sample(face, 0.85))).state, 'SUCCESS')
      const webhook = await host.webhook(sessionId)
      assert.deepEqual([webhook.puid, webhook.nonce, webhook.matchedBy], [puid, 'n-1', 'server'])
    }
  })

  test('another face is -9 after three tries, also when another enrolled person has it', async () => {
    const own = await fixture.newHost()
    const face = faces.person()
    await enrolled(fixture, own, faces.person(), { body: { customerId: 'first' } })
    await enrolled(fixture, own, face, { body: { customerId: 'second' } })
    const { sessionId } = await own.create('VERIFY', { customerId: 'first' })
    const state = await visit(fixture, sessionId, face)
    assert.deepEqual([state.state, state.attempt, state.errors], ['FAILED', 3, [-9]])
    const { status, errors, puid } = await own.webhook(sessionId)
    assert.deepEqual([status, errors, puid], ['FAILED', [{ code: -9, message: 'Face does not match' }], undefined])
  })

  test('a puid that is also the host’s name for another person means the person of the field that was used', async () => {
    const own = await fixture.newHost()
    const [first, second] = [faces.person(), faces.person()]
    const puid = await enrolled(fixture, own, first)
    const other = await enrolled(fixture, own, second, { body: { customerId: puid } })
    for (const [who, face, expected] of [
      [{ puid, customerId: undefined }, first, puid],
      [{ puid, customerId: undefined }, second, undefined],
      [{ customerId: puid }, second, other],
      [{ customerId: puid }, first, undefined],
    ] as const) {
      const { sessionId } = await own.create('VERIFY', who)
      await visit(fixture, sessionId, face)
      assert.equal((await own.webhook(sessionId)).puid, expected)
    }
  })

  test('a person who does not exist is -36 at the first try', async () => {
    const { sessionId } = await host.create('VERIFY', { customerId: 'nobody' })
    const state = await visit(fixture, sessionId, faces.person())
    assert.deepEqual([state.state, state.attempt, state.errors], ['FAILED', 1, [-36]])
  })
})

test('[D-007] no data of a flow is stored in clear text, and an ended flow has no vector at all', async () => {
  const face = faces.person()
  const { sessionId } = await host.create('ENROLL')
  await visit(fixture, sessionId, face)
  const dump = [...(await fixture.dump()).values()].join('\n')
  const text = encodeVector(face)
  for (const form of [text, Buffer.from(text, 'base64url').toString('hex')])
    assert.ok(!dump.includes(form.slice(0, 40)))
  const { rows } = await fixture.harness.database.query('select progress from session_secrets where session_id = $1', [
    sessionId,
  ])
  assert.deepEqual(rows, [{ progress: null }])
})
