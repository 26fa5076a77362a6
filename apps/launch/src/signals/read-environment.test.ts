import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEnvironment } from './read-environment.ts'
import { browser, NOW_MS } from './testing/browsers.ts'
import { remove, set } from './testing/marks.ts'

test('the environment has the browser’s values', () => {
  const { globals, clock } = browser('Chrome on Android')
  const { probes: _, ...env } = readEnvironment(globals, clock)
  assert.deepEqual(env.navigator.languages, ['en-US', 'en'])
  assert.deepEqual(
    [env.navigator.deviceMemory, env.navigator.connectionRttMs, env.navigator.maxTouchPoints],
    [4, 100, 5],
  )
  assert.deepEqual(
    env.navigator.clientHints?.brands.map(({ brand }) => brand),
    ['Not=A?Brand', 'Chromium', 'Google Chrome'],
  )
  assert.deepEqual(env.navigator.ownProperties, [])
  assert.deepEqual(env.time, { nowMs: NOW_MS, zone: 'Europe/Berlin', offsetMinutes: 120 })
  assert.deepEqual(env.screen, { width: 412, height: 915 })
  assert.deepEqual(env.document, { properties: [], rootAttributes: ['lang', 'dir'], isVisible: true })
  assert.deepEqual([env.missingInterfaces, env.replacedFunctions], [[], []])
  assert.ok(env.window.properties.includes('chrome') && env.window.hasChrome && env.window.isTop)
})

test('functions that a script replaced are listed', () => {
  const fake = browser('Chrome on Windows')
  set('navigator.mediaDevices.getUserMedia', async () => ({}))(fake)
  remove('BigInt')(fake)
  const env = readEnvironment(fake.globals, fake.clock)
  assert.deepEqual(env.replacedFunctions, ['mediaDevices.getUserMedia'])
  assert.deepEqual(env.missingInterfaces, ['BigInt'])
})

test('without any globals everything is missing, and nothing throws', () => {
  const { clock } = browser('Chrome on Windows')
  const env = readEnvironment({}, clock)
  assert.equal(env.navigator.userAgent, '')
  assert.equal(env.navigator.clientHints, undefined)
  assert.deepEqual(env.time, { nowMs: NOW_MS, zone: undefined, offsetMinutes: undefined })
  assert.equal(env.missingInterfaces.length, 10)
})
