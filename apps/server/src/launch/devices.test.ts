import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../platform/errors.ts'
import { type BoundDevice, newProgress, type Progress } from '../sessions/index.ts'
import { bindDevice, enterNumber, hashCode, newHandoff, newNumber, roleOf, takeBack } from './devices.ts'
import { NOW, sessionAt } from './testing/session.ts'
import { IPHONE, LAPTOP } from './testing/user-agents.ts'

const device = (name: string, counter = 1): BoundDevice => ({
  key: { kty: 'EC', crv: 'P-256', x: name.padEnd(43, 'x'), y: name.padEnd(43, 'y') },
  thumbprint: name,
  counter,
})
const PHONE = device('phone')
const TABLET = device('tablet')
const DESK = device('desk')
const held = (more: Partial<Progress> = {}): Progress => ({ ...newProgress('en'), holder: PHONE, ...more })

const opening = (more: object = {}, about: object = {}) => ({
  body: {
    sessionId: sessionAt('CREATED').sessionId,
    deviceKey: PHONE.key,
    platform: 'mobile' as const,
    clientTime: NOW.getTime(),
    ...more,
  },
  about: { userAgent: IPHONE, secChUaMobile: undefined, acceptLanguage: undefined, ...about },
  now: NOW,
})
const refuses = (code: string) => (error: unknown) => error instanceof AppError && error.code === code

test('a device that is bound keeps its role; any other is a stranger', () => {
  const progress = held({ viewer: DESK })
  assert.deepEqual(
    [roleOf(progress, 'phone'), roleOf(progress, 'desk'), roleOf(progress, 'tablet')],
    ['holder', 'viewer', undefined],
  )
})

describe('opening', () => {
  test('binds the first device, and raises a flag for a clock that is more than five minutes off', () => {
    const { role, step } = bindDevice(sessionAt('CREATED'), PHONE, opening())
    assert.deepEqual([role, step.state, step.progress.holder, step.progress.flags], ['holder', 'OPENED', PHONE, []])
    for (const [offMs, flags] of [
      [300_000, []],
      [300_001, [{ code: 'BH_CLOCK_SKEW' }]],
      [-300_001, [{ code: 'BH_CLOCK_SKEW' }]],
    ] as const) {
      const skewed = bindDevice(sessionAt('CREATED'), PHONE, opening({ clientTime: NOW.getTime() + offMs }))
      assert.deepEqual(skewed.progress.flags, flags, `${offMs}`)
    }
  })

  test('again with an older counter is refused for the holder and for the viewer', () => {
    const progress = held({ holder: device('phone', 5), viewer: device('desk', 9) })
    const session = sessionAt('READY', {}, progress)
    for (const repeated of [device('phone', 5), device('phone', 4), device('desk', 9), device('desk', 1)]) {
      assert.throws(() => bindDevice(session, repeated, opening()), refuses('INVALID_DEVICE_PROOF'))
    }
    assert.equal(bindDevice(session, device('phone', 6), opening()).progress.holder?.counter, 6)
    assert.equal(bindDevice(session, device('desk', 10), opening()).progress.viewer?.counter, 10)
  })

  test('by a stranger changes neither holder nor state', () => {
    const { step } = bindDevice(sessionAt('FACE_ACTIVE', {}, held()), TABLET, opening())
    assert.equal(step.refuse?.code, 'DEVICE_MISMATCH')
    assert.deepEqual([step.state, step.progress.holder, step.progress.viewer], ['FACE_ACTIVE', PHONE, null])
    assert.deepEqual(step.progress.flags, [{ code: 'BH_DEVICE_SWITCH' }])
  })

  test('on a desktop waits for a phone, unless the host allows desktops', () => {
    const desktop = { userAgent: LAPTOP }
    const barred = bindDevice(sessionAt('CREATED'), DESK, opening({}, desktop))
    assert.deepEqual([barred.role, barred.step.state, barred.step.errors], ['viewer', 'HANDOFF_WAIT', [-5]])
    assert.deepEqual([barred.progress.holder, barred.progress.viewer], [null, DESK])
    const allowed = bindDevice(sessionAt('CREATED', { enableDesktop: true }), DESK, opening({}, desktop))
    assert.deepEqual([allowed.role, allowed.step.state, allowed.step.errors], ['holder', 'OPENED', undefined])
  })
})

describe('a handoff', () => {
  const handoff = { codeHash: hashCode('code'), expiresAtMs: NOW.getTime() + 300_000 }

  test('releases the session, and gives it to the device with the code', () => {
    const asked = newHandoff(sessionAt('READY'), held(), handoff, NOW)
    assert.deepEqual([asked.state, asked.progress.holder, asked.progress.viewer], ['HANDOFF_WAIT', null, PHONE])
    const session = sessionAt('HANDOFF_WAIT', {}, asked.progress)
    const { role, step } = bindDevice(session, TABLET, opening({ handoffCode: 'code' }))
    assert.deepEqual([role, step.state, step.refuse], ['holder', 'OPENED', undefined])
    assert.deepEqual([step.progress.holder, step.progress.viewer, step.progress.handoff], [TABLET, PHONE, null])
  })

  test('keeps only a hash of its code', () => {
    const text = JSON.stringify(
      newHandoff(sessionAt('READY'), held(), { ...handoff, codeHash: hashCode('the-code') }, NOW),
    )
    assert.ok(!text.includes('the-code'))
    assert.match(hashCode('the-code'), /^[A-Za-z0-9_-]{43}$/)
  })

  test('starts a new log: an entry belongs to one device', () => {
    const log = { seq: 3, hash: 'h'.repeat(43), entries: [], regressions: 1, flags: [] }
    const waiting = held({ holder: null, viewer: PHONE, handoff, log })
    const { progress } = bindDevice(sessionAt('HANDOFF_WAIT', {}, waiting), TABLET, opening({ handoffCode: 'code' }))
    assert.deepEqual(progress.log, newProgress('en').log)
  })

  test('is refused the third time, and an eleventh code is refused', () => {
    for (const over of [{ handoffs: 2 }, { codes: 10 }]) {
      const ask = () => newHandoff(sessionAt('READY'), held(over), handoff, NOW)
      assert.throws(ask, refuses('HANDOFF_REFUSED'), JSON.stringify(over))
    }
    assert.equal(newHandoff(sessionAt('READY'), held({ handoffs: 1, codes: 9 }), handoff, NOW).progress.codes, 10)
  })

  test('does not count expired codes: a page that stays open makes new ones as long as the session lives', () => {
    const with10 = (endedMs: number) => held({ codes: 10, handoff: { codeHash: 'h', expiresAtMs: endedMs } })
    const old = with10(NOW.getTime() - 1)
    assert.equal(newHandoff(sessionAt('HANDOFF_WAIT'), old, handoff, NOW).progress.codes, 1)
    const fresh = with10(NOW.getTime())
    assert.throws(() => newHandoff(sessionAt('HANDOFF_WAIT'), fresh, handoff, NOW), refuses('HANDOFF_REFUSED'))
  })

  test('from the passkey step leaves a try for the face step, which the new device has to repeat', () => {
    const passkey = { ...sessionAt('READY'), area: 'verification' as const, state: 'PASSKEY_ACTIVE' as const }
    assert.equal(newHandoff(passkey, held({ attempt: 3 }), handoff, NOW).progress.attempt, 2)
    assert.equal(newHandoff(passkey, held({ attempt: 1 }), handoff, NOW).progress.attempt, 1)
    assert.equal(newHandoff(sessionAt('READY'), held({ attempt: 3 }), handoff, NOW).progress.attempt, 3)
  })
})

describe('taking back', () => {
  test('makes the viewer the holder, and there is no viewer any more', () => {
    const { state, role, progress } = takeBack(sessionAt('READY'), held({ holder: TABLET, viewer: PHONE }), 'viewer')
    assert.deepEqual([state, role, progress.holder, progress.viewer], ['OPENED', 'holder', PHONE, null])
  })

  test('from the passkey step leaves a try for the face step', () => {
    const passkey = { ...sessionAt('READY'), area: 'verification' as const, state: 'PASSKEY_ACTIVE' as const }
    const handed = held({ holder: TABLET, viewer: PHONE, codes: 1, attempt: 3 })
    assert.equal(takeBack(passkey, handed, 'viewer').progress.attempt, 2)
    assert.equal(takeBack(sessionAt('READY'), handed, 'viewer').progress.attempt, 3)
  })

  test('returns the session to a second device that had released it for a third; the first device stays the viewer', () => {
    const log = { ...newProgress('en').log, seq: 4 }
    const joined = held({ holder: TABLET, viewer: PHONE, codes: 1, log })
    const asked = newHandoff(sessionAt('READY'), joined, { codeHash: 'h', expiresAtMs: NOW.getTime() + 1 }, NOW)
    const { state, progress } = takeBack(sessionAt('HANDOFF_WAIT'), asked.progress, 'holder')
    assert.deepEqual([state, progress.holder, progress.viewer], ['OPENED', TABLET, PHONE])
    assert.deepEqual([progress.handoff, progress.log], [null, newProgress('en').log])
  })

  test('is refused for the holder, unless the reply to its own take-back was lost', () => {
    const refused = refuses('DEVICE_MISMATCH')
    const back = held({ holder: PHONE, viewer: null, codes: 1 })
    assert.deepEqual(takeBack(sessionAt('OPENED'), back, 'holder'), { state: 'OPENED', progress: back })
    const never = held({ holder: PHONE, viewer: null, codes: 0 })
    assert.throws(() => takeBack(sessionAt('OPENED'), never, 'holder'), refused)
    const watched = held({ holder: TABLET, viewer: PHONE, codes: 1 })
    assert.deepEqual(takeBack(sessionAt('OPENED'), watched, 'holder'), { state: 'OPENED', progress: watched })
    for (const one of [back, watched]) {
      const wentOn = { ...one, log: { ...one.log, seq: 1 } }
      assert.throws(() => takeBack(sessionAt('OPENED'), wentOn, 'holder'), refused)
    }
  })

  test('is refused for a desktop that may not run the flow, before and after a phone has joined', () => {
    const opened = bindDevice(sessionAt('CREATED'), DESK, opening({}, { userAgent: LAPTOP })).progress
    assert.throws(() => takeBack(sessionAt('HANDOFF_WAIT'), opened, 'viewer'), refuses('HANDOFF_REFUSED'))
    const moved = { ...opened, desktop: false, holder: PHONE }
    assert.throws(() => takeBack(sessionAt('OPENED'), moved, 'viewer'), refuses('HANDOFF_REFUSED'))
  })
})

describe('the number of a handoff', () => {
  const bytes = (n: number) => new Uint8Array(n)
  const entered = (progress: Progress) =>
    enterNumber(sessionAt('OPENED', {}, progress), progress, '00').progress.matched

  test('proves the first device’s user if the code was made on the first device', () => {
    const made = newNumber(bytes, held({ holder: null, viewer: DESK }), 'viewer')
    assert.deepEqual(made, { digits: '00', isOfFirstUser: true })
    assert.deepEqual(newNumber(bytes, held(), 'holder'), made)
    assert.equal(entered(held({ viewer: DESK, number: made })), 'phone')
  })

  test('proves it too if the code was made on a second device that had sent the right number', () => {
    const made = newNumber(bytes, held({ viewer: DESK, matched: 'phone' }), 'holder')
    assert.equal(entered(held({ holder: TABLET, viewer: DESK, matched: null, number: made })), 'tablet')
  })

  test('proves nothing of the first device’s user if it was made on a second device that had sent none', () => {
    for (const matched of [undefined, null, 'tablet']) {
      const made = newNumber(bytes, held({ viewer: DESK, ...(matched !== undefined && { matched }) }), 'holder')
      assert.equal(entered(held({ holder: TABLET, viewer: DESK, number: made })), null)
    }
  })
})
