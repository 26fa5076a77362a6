import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { FLOW_STATUSES } from '@ostiary/contract/states'
import type { FrameElement, HostWindow, PopupWindow, WindowMessage } from './browser.ts'
import { type LaunchEvent, type LaunchOptions, openLaunch } from './index.ts'
import { KNOWN_FLOW_STATUSES, readMessage } from './message.ts'

const ORIGIN = 'https://id.example'
const SESSION = '079b6cd9-f993-81a6-95fd-62194e74386d'
const LAUNCH_URL = `${ORIGIN}/launch/?sessionId=${SESSION}`
const SAID = { source: 'ostiary', version: 1, event: 'step', sessionId: SESSION, step: 'capture' }

/** A fake browser: records what was opened, and lets the test send messages and advance time. */
function createHost({ blocksPopups = false } = {}) {
  const went: string[] = []
  const opened: { url: string; target: string; features: string; popup: PopupWindow }[] = []
  const frames: FrameElement[] = []
  const listeners = new Set<(message: WindowMessage) => void>()
  const timers = new Set<() => void>()
  const host: HostWindow = {
    location: { assign: (url) => void went.push(url) },
    document: {
      createElement: () => {
        const style = { border: '', width: '', height: '' }
        const contentWindow = { name: 'frame' }
        const remove = () => void frames.splice(frames.indexOf(frame), 1)
        const frame: FrameElement = { src: '', title: '', allow: '', className: '', style, contentWindow, remove }
        return frame
      },
      body: { append: (frame) => void frames.push(frame as FrameElement) },
    },
    open(url, target, features) {
      if (blocksPopups) return null
      const popup: PopupWindow = {
        closed: false,
        close() {
          popup.closed = true
        },
      }
      opened.push({ url, target, features, popup })
      return popup
    },
    addEventListener: (_type, listener) => void listeners.add(listener),
    removeEventListener: (_type, listener) => void listeners.delete(listener),
    setInterval(work) {
      timers.add(work)
      return work
    },
    clearInterval: (work) => void timers.delete(work as () => void),
  }
  return {
    host,
    went,
    opened,
    frames,
    listeners,
    timers,
    tick: () => {
      for (const work of [...timers]) work()
    },
    say: (source: unknown, data: unknown, origin = ORIGIN) => {
      for (const listener of [...listeners]) listener({ origin, source, data })
    },
  }
}

function open(options: Partial<LaunchOptions>, browser = createHost()) {
  const events: LaunchEvent[] = []
  const onEvent = (event: LaunchEvent) => void events.push(event)
  const launch = openLaunch({ launchUrl: LAUNCH_URL, as: 'iframe', onEvent, ...options }, browser.host)
  return { ...browser, events, launch }
}

describe('a redirect', () => {
  test('leaves for the launch page and listens to nobody', () => {
    const { went, listeners, launch } = open({ as: 'redirect' })
    assert.deepEqual([went, listeners.size], [[LAUNCH_URL], 0])
    launch.close()
  })
})

describe('a frame', () => {
  test('may use the camera and passkeys, has a title, and is put into the given container', () => {
    const put: unknown[] = []
    const { frames, events } = open({ container: { append: (frame) => void put.push(frame) }, title: 'Proof of age' })
    assert.equal(frames.length, 0)
    const [frame] = put as FrameElement[]
    assert.equal(frame?.src, LAUNCH_URL)
    assert.equal(frame?.title, 'Proof of age')
    assert.match(frame?.allow ?? '', /^camera; publickey-credentials-get; publickey-credentials-create; /)
    assert.deepEqual(frame?.style, { border: '0', width: '100%', height: '100%' })
    assert.deepEqual(events, [])
  })

  test('passes on the page’s events without unknown fields', () => {
    const { frames, events, say } = open({})
    const source = frames[0]?.contentWindow
    say(source, { ...SAID, event: 'ready', age: 42 })
    say(source, SAID)
    say(source, {
      ...SAID,
      event: 'finished',
      flowStatus: 'COMPLETED',
      redirectUrl: 'https://shop.example/back',
      code: 'c0de',
    })
    assert.deepEqual(events, [
      { event: 'ready', sessionId: SESSION, step: 'capture' },
      { event: 'step', sessionId: SESSION, step: 'capture' },
      {
        event: 'finished',
        sessionId: SESSION,
        step: 'capture',
        flowStatus: 'COMPLETED',
        redirectUrl: 'https://shop.example/back',
        code: 'c0de',
      },
    ])
    assert.equal(frames.length, 1, 'the host decides what happens after the end')
  })

  test('is removed when its user closes it, and later messages are ignored', () => {
    const { frames, events, say, listeners } = open({})
    const source = frames[0]?.contentWindow
    say(source, { ...SAID, event: 'closed' })
    say(source, SAID)
    assert.deepEqual(
      events.map(({ event }) => event),
      ['closed'],
    )
    assert.deepEqual([frames.length, listeners.size], [0, 0])
  })

  test('is removed when the host closes it, once and without an event', () => {
    const { frames, events, launch, listeners } = open({})
    launch.close()
    launch.close()
    assert.deepEqual([frames.length, listeners.size, events.length], [0, 0, 0])
  })
})

describe('a popup', () => {
  test('asks the page to keep its opener, and passes on its events', () => {
    const { opened, events, say } = open({ as: 'popup', launchUrl: `${LAUNCH_URL}#h=code` })
    const [window] = opened
    assert.equal(window?.url, `${LAUNCH_URL}&as=popup#h=code`)
    assert.doesNotMatch(window?.features ?? '', /noopener|noreferrer/)
    say(window?.popup, SAID)
    assert.equal(events.length, 1)
  })

  test('that its user closes gives one event', () => {
    const { opened, events, tick, timers, listeners } = open({ as: 'popup' })
    tick()
    assert.deepEqual(events, [])
    opened[0]?.popup.close()
    tick()
    tick()
    assert.deepEqual(events, [{ event: 'closed', sessionId: SESSION }])
    assert.deepEqual([timers.size, listeners.size], [0, 0])
  })

  test('is closed by the host without an event', () => {
    const { opened, events, launch, tick } = open({ as: 'popup' })
    launch.close()
    tick()
    assert.deepEqual([opened[0]?.popup.closed, events.length], [true, 0])
  })

  test('that the browser blocks becomes a redirect, or is reported where the host prefers that', () => {
    const redirected = open({ as: 'popup' }, createHost({ blocksPopups: true }))
    assert.deepEqual([redirected.events, redirected.went], [[{ event: 'blocked' }], [LAUNCH_URL]])
    const reported = open({ as: 'popup', ifBlocked: 'report' }, createHost({ blocksPopups: true }))
    assert.deepEqual([reported.events, reported.went], [[{ event: 'blocked' }], []])
  })
})

describe('a message', () => {
  const source = { name: 'frame' }
  const from = { origin: ORIGIN, sessionId: SESSION, source }
  const read = (change: object, message: Partial<WindowMessage> = {}) =>
    readMessage({ origin: ORIGIN, source, data: { ...SAID, ...change }, ...message }, from)

  test('is accepted only from the opened window and the launch page’s origin', () => {
    assert.ok(read({}))
    assert.equal(read({}, { origin: 'https://evil.example' }), undefined)
    assert.equal(read({}, { origin: `${ORIGIN}.evil.example` }), undefined)
    assert.equal(read({}, { source: { name: 'frame' } }), undefined)
    assert.equal(readMessage({ origin: ORIGIN, source: null, data: SAID }, { ...from, source: null }), undefined)
  })

  test('is accepted only for this session and in this format', () => {
    for (const change of [
      { sessionId: 'other' },
      { sessionId: 7 },
      { source: 'other' },
      { version: 2 },
      { event: 'result' },
      { event: undefined },
    ])
      assert.equal(read(change), undefined, JSON.stringify(change))
    for (const data of [null, 'ready', 7, undefined, []])
      assert.equal(readMessage({ origin: ORIGIN, source, data }, from), undefined)
  })

  test('loses fields of the wrong type', () => {
    const expected = { event: 'step', sessionId: SESSION }
    const odd = { step: 3, flowStatus: 'AGE_ABOVE_THRESHOLD', redirectUrl: 'javascript:alert(1)', code: 7 }
    assert.deepEqual(read(odd), expected)
  })
})

test('embed loads in a browser without a bundler: it imports no value of another package', () => {
  const sources = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  assert.ok(sources.includes('index.ts'))
  for (const name of sources) {
    const text = readFileSync(`${import.meta.dirname}/${name}`, 'utf8')
    const values = [...text.matchAll(/^(?:import|export) (?!type )[^'"]*from '([^.][^']*)'/gm)].map((match) => match[1])
    assert.deepEqual(values, [], name)
  }
})

test('embed knows every flow status of the contract', () => {
  assert.deepEqual(KNOWN_FLOW_STATUSES, FLOW_STATUSES)
})
