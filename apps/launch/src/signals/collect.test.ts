import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CapturePayload, INDICATOR_PATHS, type IndicatorPath, readIndicators, writeIndicators } from '@ostiary/contract'
import Value from 'typebox/value'
import { collectSignals, SIGNALS } from './collect.ts'
import type { BrowserKind } from './environment.ts'
import { PROBE_MS_MAX } from './probes.ts'
import { readEnvironment } from './read-environment.ts'
import { BROWSER_NAMES, type BrowserName, browser, CAMERA } from './testing/browsers.ts'
import { set } from './testing/marks.ts'

const collect = (name: BrowserName, camera: { label: string } | undefined = CAMERA) => {
  const { globals, clock } = browser(name)
  return collectSignals(readEnvironment(globals, clock), camera)
}

test('there are the 21 indicators of the contract, in its order', () => {
  assert.deepEqual(Object.keys(SIGNALS), INDICATOR_PATHS)
})

/** Per browser: the indicators that it cannot evaluate, and the few that are suspicious although the user is honest. */
interface Expected {
  kind?: BrowserKind
  notEvaluated?: readonly IndicatorPath[]
  suspicious?: readonly IndicatorPath[]
}
const NOT_CHROMIUM = [
  'headless.chrome',
  'headless.permissions',
  'headless.plugins',
  'headless.deviceMemory',
  'headless.connectionType',
] as const
const IOS = [...NOT_CHROMIUM, 'headless.notification'] as const
const WEBVIEW = ['headless.permissions', 'headless.plugins', 'headless.notification'] as const

const EXPECTED: Readonly<Record<BrowserName, Expected>> = {
  'Chrome on Windows': {},
  'Chrome on a Mac': {},
  'Chrome on Linux': {},
  'Chrome on a Chromebook': {},
  'Edge on Windows': {},
  'Brave on a Mac': { kind: 'privacy', notEvaluated: ['headless.connectionType', 'headless.timing'] },
  'Chrome on Android': { notEvaluated: ['headless.plugins'] },
  'Chrome on an Android tablet': { notEvaluated: ['headless.plugins'] },
  'Chrome on Android that asks for desktop pages': {},
  'Samsung Internet': { notEvaluated: ['headless.chrome', 'headless.plugins'] },
  'Firefox on Windows': { notEvaluated: NOT_CHROMIUM },
  'Firefox on Android': { notEvaluated: NOT_CHROMIUM },
  'Tor Browser': {
    kind: 'privacy',
    notEvaluated: [...NOT_CHROMIUM, 'headless.timing'],
    suspicious: ['headless.webRTC'],
  },
  'Safari on a Mac': { notEvaluated: NOT_CHROMIUM },
  'Safari on an iPhone': { notEvaluated: IOS },
  'Chrome on an iPhone': { notEvaluated: IOS },
  'an iPad that calls itself a Mac': { notEvaluated: IOS },
  'a WebView on Android': { kind: 'webview', notEvaluated: WEBVIEW, suspicious: ['headless.chrome'] },
  'Instagram on Android': { kind: 'webview', notEvaluated: WEBVIEW, suspicious: ['headless.chrome'] },
  'Facebook on an iPhone': { kind: 'webview', notEvaluated: IOS },
}

describe('a browser of an honest user', () => {
  for (const name of BROWSER_NAMES) {
    const { kind = 'ordinary', notEvaluated = [], suspicious = [] } = EXPECTED[name]
    test(`${name}: ${kind}, ${suspicious.length === 0 ? 'nothing' : suspicious.join(', ')} suspicious`, async () => {
      const signals = await collect(name)
      assert.equal(signals.indicators, writeIndicators(new Set(suspicious), new Set(notEvaluated)))
      assert.deepEqual(signals.browser, { kind })
    })
  }
})

test('before a camera is granted, no camera indicator is evaluated', async () => {
  const { globals, clock } = browser('Chrome on Windows')
  const { indicators } = await collectSignals(readEnvironment(globals, clock))
  const unknown = new Set<IndicatorPath>([
    'virtualCamera.virtualCameraSoftware',
    'virtualCamera.suspiciousLabels',
    'virtualCamera.noMediaDevices',
  ])
  assert.equal(indicators, writeIndicators(new Set(), unknown))
})

test('a phone used as a webcam is reported as one', async () => {
  const { browser: reported, indicators } = await collect('Chrome on a Mac', { label: 'My iPhone Camera' })
  assert.deepEqual(reported, { kind: 'ordinary', phoneCamera: true })
  const { virtualCamera } = readIndicators(indicators)
  assert.deepEqual([virtualCamera.suspiciousLabels, virtualCamera.virtualCameraSoftware], [true, false])
})

test('the collected signals fit the schema of the payload', async () => {
  const { indicators, browser: kind } = CapturePayload.properties
  for (const label of [CAMERA.label, 'DroidCam Source 3']) {
    const signals = await collect('Chrome on Windows', { label })
    assert.ok(Value.Check(indicators, signals.indicators) && Value.Check(kind, signals.browser), label)
  }
})

test('probes that hang share one timeout, and only they are not evaluated', async (t) => {
  // Everything that can run now has run.
  const aWhile = async () => {
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate)
  }
  const never = () => new Promise(() => {})
  const { globals, clock } = browser('Chrome on Windows')
  for (const [path, value] of [
    ['navigator.permissions.query', never],
    ['navigator.mediaDevices.enumerateDevices', never],
    ['requestAnimationFrame', () => 0],
    ['setTimeout', () => 0],
  ] as const) {
    set(path, value.bind(undefined))({ globals, clock })
  }
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let isDone = false
  const collecting = collectSignals(readEnvironment(globals, clock), CAMERA).finally(() => {
    isDone = true
  })
  await aWhile()
  t.mock.timers.tick(PROBE_MS_MAX - 1)
  await aWhile()
  assert.equal(isDone, false, 'each probe gets its full time')
  t.mock.timers.tick(1)
  const { indicators } = await collecting
  const hung = new Set<IndicatorPath>([
    'headless.permissions',
    'headless.timing',
    'virtualCamera.noMediaDevices',
    'virtualCamera.mediaDevicesError',
  ])
  assert.equal(indicators, writeIndicators(new Set(), hung))
})

test('a browser in which everything throws is not suspicious and stops nothing', async () => {
  const fail = () => {
    throw new Error('denied')
  }
  const globals = new Proxy({}, { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail })
  const { clock } = browser('Chrome on Windows')
  const { indicators, browser: reported } = await collectSignals(readEnvironment(globals, clock), CAMERA)
  assert.match(indicators, /^[01-]{21}$/)
  assert.deepEqual(
    [...indicators].flatMap((mark, index) => (mark === '1' ? [INDICATOR_PATHS[index]] : [])),
    ['headless.webRTC'],
  )
  assert.deepEqual(reported, { kind: 'ordinary' })
})

test('properties whose getters throw count as missing', async () => {
  const { globals, clock } = browser('Chrome on Windows')
  for (const name of ['connection', 'deviceMemory', 'plugins', 'userAgentData', 'maxTouchPoints']) {
    Object.defineProperty(Object.getPrototypeOf(globals.navigator), name, {
      get() {
        throw new TypeError('Illegal invocation')
      },
    })
  }
  const { indicators } = await collectSignals(readEnvironment(globals, clock), CAMERA)
  assert.equal(
    indicators,
    writeIndicators(
      new Set(['headless.deviceMemory']),
      new Set(['headless.plugins', 'headless.connectionType'] as const),
    ),
  )
})
