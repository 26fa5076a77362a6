import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LaunchState } from '@ostiary/contract'
import { FIRST_VIEW } from '../flow/view.ts'
import { windowTitle } from './page-title.ts'

const SESSION: LaunchState = {
  sessionId: 's',
  state: 'OPENED',
  role: 'holder',
  attempt: 1,
  attemptsLeft: 2,
  expiresAt: '2026-11-18T12:00:00.000Z',
  flowStatus: null,
  errors: [],
  redirectUrl: null,
  livemode: true,
}
const brand = { name: 'Shop', logo: null, primary: null, background: null }

test('the window says what kind of check it is only where that is known', () => {
  const t = (key: string) => key
  const opened = { ...FIRST_VIEW, session: SESSION, brand }
  const elsewhere = { at: 'problem', problem: 'other_device' } as const
  assert.equal(windowTitle(FIRST_VIEW, t), 'app.titleOpen')
  assert.equal(windowTitle({ ...FIRST_VIEW, state: elsewhere }, t), 'app.titleOpen')
  // The texts of a sign-in are still on their way.
  assert.equal(windowTitle(opened, t), 'app.titleOpen: Shop')
  assert.equal(windowTitle({ ...opened, state: { at: 'welcome', answering: false } }, t), 'app.title: Shop')
})
