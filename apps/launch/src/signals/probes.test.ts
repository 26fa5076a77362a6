import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askAll, createProbes } from './probes.ts'
import { browser } from './testing/browsers.ts'

test('a browser answers every probe', async () => {
  const { globals, clock } = browser('Chrome on a Mac')
  const { frameTimesMs, timerTookMs, ...rest } = await askAll(createProbes(globals, clock))
  assert.deepEqual(rest, {
    webGL: {
      vendor: 'Google Inc. (Apple)',
      renderer: 'ANGLE (Apple, ANGLE Metal Renderer: Apple M2, Unspecified Version)',
    },
    webRTC: 'works',
    notificationPermission: 'prompt',
    cameras: { failed: false, count: 1 },
  })
  assert.equal(frameTimesMs?.length, 8)
  assert.ok(timerTookMs !== undefined && timerTookMs >= 40, `took ${timerTookMs} ms`)
})

test('in an environment without any API, only the missing WebRTC is reported', async () => {
  const { clock } = browser('Chrome on a Mac')
  assert.deepEqual(await askAll(createProbes({}, clock)), {
    webGL: undefined,
    webRTC: 'missing',
    notificationPermission: undefined,
    cameras: undefined,
    frameTimesMs: undefined,
    timerTookMs: undefined,
  })
})

test('the graphics context and the connection are released', async () => {
  const { globals, clock } = browser('Chrome on a Mac')
  const given: string[] = []
  Object.assign(globals, {
    document: {
      createElement: () => ({
        getContext: () => ({
          getParameter: () => 'a card',
          getExtension: (name: string) =>
            name === 'WEBGL_lose_context' ? { loseContext: () => given.push('graphics') } : null,
        }),
      }),
    },
    RTCPeerConnection: class {
      createDataChannel() {}
      async createOffer(): Promise<never> {
        throw new Error('no')
      }
      close() {
        given.push('connection')
      }
    },
  })
  const probes = createProbes(globals, clock)
  assert.equal(await probes.webRTC(), 'fails')
  assert.deepEqual(await probes.webGL(), { vendor: 'a card', renderer: 'a card' })
  assert.deepEqual(given, ['connection', 'graphics'])
})

test('a probe that throws is not evaluated, and the others are', async () => {
  const { globals, clock } = browser('Chrome on a Mac')
  const probes = createProbes(globals, clock)
  const answers = await askAll({
    ...probes,
    webGL: () => {
      throw new Error('no')
    },
  })
  assert.equal(answers.webGL, undefined)
  assert.equal(answers.webRTC, 'works')
})
