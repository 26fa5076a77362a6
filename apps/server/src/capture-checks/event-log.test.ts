import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LaunchEvent, SealedLog } from '@ostiary/contract'
import { CHAIN_START, chainEvent } from '@ostiary/crypto'
import { appendEvents, emptyLog, type NewEvent, sealedEvents } from './event-log.ts'
import { chain, type Moment } from './testing/person.ts'

const MANY = { maxEvents: 300 }
const OPENING: Moment[] = [
  { type: 'page_open', t: 10 },
  { type: 'consent_shown', t: 500 },
  { type: 'consent_given', t: 2500 },
  { type: 'camera_requested', t: 2600 },
]
const events = chain(OPENING)
const swapped = (at: number, change: Partial<LaunchEvent>) =>
  events.map((event, index) => (index === at ? { ...event, ...change } : event))

describe('a log', () => {
  test('starts empty, and then has its entries, their marks and the last hash, as plain JSON', () => {
    assert.deepEqual(emptyLog(), { seq: 0, hash: CHAIN_START, entries: [], regressions: 0, flags: [] })
    const { log, flags } = appendEvents(emptyLog(), chain([{ type: 'page_open', t: 10, n: 3 }]), MANY)
    const hash = chain([{ type: 'page_open', t: 10, n: 3 }])[0]?.hash ?? ''
    assert.deepEqual(flags, [])
    assert.deepEqual(JSON.parse(JSON.stringify(log)), {
      seq: 1,
      hash,
      entries: [{ seq: 1, t: 10, type: 'page_open', n: 3, mark: hash.slice(0, 11) }],
      regressions: 0,
      flags: [],
    })
  })

  test('follows the chain that a device makes', async () => {
    let hash = CHAIN_START
    let log = emptyLog()
    for (const [index, moment] of OPENING.entries()) {
      const event = await chainEvent(hash, { seq: index + 1, ...moment })
      const appended = appendEvents(log, [event], MANY)
      assert.deepEqual(appended.flags, [])
      log = appended.log
      hash = event.hash
    }
    assert.deepEqual([log.seq, log.hash], [4, hash])
  })

  test('is the same whether entries come at once, one by one or repeatedly, and the log passed in is not changed', () => {
    const atOnce = appendEvents(emptyLog(), events, MANY).log
    const oneByOne = events.reduce((log, event) => appendEvents(log, [event], MANY).log, emptyLog())
    const before = structuredClone(atOnce)
    assert.deepEqual(oneByOne, atOnce)
    assert.deepEqual(appendEvents(atOnce, events, MANY), { log: atOnce, flags: [] })
    assert.deepEqual(
      appendEvents(appendEvents(emptyLog(), events.slice(0, 3), MANY).log, events.slice(1), MANY).log,
      atOnce,
    )
    assert.deepEqual(atOnce, before)
  })
})

describe('a fault of the chain', () => {
  const flagsOf = (given: readonly LaunchEvent[]) => appendEvents(emptyLog(), given, MANY).flags

  test('is found for every part of an entry that was changed after it was chained', () => {
    assert.deepEqual(flagsOf(swapped(1, { t: 501 })), ['BH_CHAIN_BROKEN'])
    assert.deepEqual(flagsOf(swapped(1, { n: 1 })), ['BH_CHAIN_BROKEN'])
    assert.deepEqual(flagsOf(swapped(3, { type: 'tab_hidden' })), ['BH_CHAIN_BROKEN'])
    assert.deepEqual(flagsOf(swapped(1, { hash: 'x'.repeat(43) })), ['BH_CHAIN_BROKEN'])
  })

  test('is found when the chain has another start', () => {
    assert.deepEqual(flagsOf(chain(OPENING, { seq: 0, hash: 'B'.repeat(43) })), ['BH_CHAIN_BROKEN'])
  })

  test('is found when an entry is sent again with other content, and the first entry stays', () => {
    const { log } = appendEvents(emptyLog(), events, MANY)
    const again = appendEvents(log, chain([{ type: 'page_open', t: 11 }]), MANY)
    assert.deepEqual(again, { log: { ...log, flags: ['BH_CHAIN_BROKEN'] }, flags: ['BH_CHAIN_BROKEN'] })
  })

  test('is found when two entries of one call have the same number', () => {
    assert.deepEqual(flagsOf([...events, ...swapped(3, { hash: 'x'.repeat(43) }).slice(3)]), ['BH_CHAIN_BROKEN'])
  })

  test('raises its flag once, and the flag stays in the log', () => {
    const broken = appendEvents(emptyLog(), swapped(1, { t: 501 }), MANY).log
    const more = chain([{ type: 'camera_ready', t: 3000 }], { seq: 4, hash: 'B'.repeat(43) })
    const after = appendEvents(broken, more, MANY)
    assert.deepEqual([after.flags, after.log.flags, after.log.seq], [[], ['BH_CHAIN_BROKEN'], 5])
  })
})

describe('a gap', () => {
  test('raises a flag, the log continues after it, and late entries are ignored', () => {
    const moments: Moment[] = [...OPENING, { type: 'tab_hidden', t: 3000 }, { type: 'tab_visible', t: 4000 }]
    const all = chain(moments)
    const { log, flags } = appendEvents(emptyLog(), [...all.slice(0, 4), ...all.slice(5)], MANY)
    assert.deepEqual(flags, ['BH_LOG_GAP'])
    assert.deepEqual(
      log.entries.map(({ seq }) => seq),
      [1, 2, 3, 4, 6],
    )
    assert.deepEqual(appendEvents(log, all.slice(4, 5), MANY), { log, flags: [] })
    const next = chain([{ type: 'failure', t: 5000 }], log)
    assert.deepEqual(appendEvents(log, next, MANY).flags, [])
  })

  test('is the result of entries in the wrong order', () => {
    const { flags, log } = appendEvents(emptyLog(), events.toReversed(), MANY)
    assert.deepEqual(flags, ['BH_LOG_GAP', 'BH_STEP_ORDER'])
    assert.deepEqual(
      log.entries.map(({ seq }) => seq),
      [4],
    )
  })

  test('is the result of a full log: further entries are not kept', () => {
    const { flags, log } = appendEvents(emptyLog(), events, { maxEvents: 3 })
    assert.deepEqual([flags, log.seq, log.hash], [['BH_LOG_GAP'], 3, events[2]?.hash])
    assert.deepEqual(appendEvents(emptyLog(), events, { maxEvents: 4 }).flags, [])
  })
})

describe('entries inside a sealed payload', () => {
  const inside = (given: readonly LaunchEvent[], change: Partial<SealedLog> = {}): NewEvent[] =>
    sealedEvents({
      seq: given.at(-1)?.seq ?? 0,
      hash: given.at(-1)?.hash ?? '',
      events: given.map(({ t, type, n }) => (n === undefined ? [t, type] : [t, type, n])),
      ...change,
    })
  const all = chain([...OPENING, { type: 'failure', t: 2700, n: -7 }])
  const whole = appendEvents(emptyLog(), all, MANY)

  test('are numbered up to the entry that the payload names, which alone has a hash', () => {
    const [first, last] = inside(all.slice(3))
    assert.deepEqual(first, { seq: 4, t: 2600, type: 'camera_requested' })
    assert.deepEqual(last, all[4])
    assert.deepEqual(sealedEvents({ seq: 4, hash: all[3]?.hash ?? '' }), [], 'a payload of the last release')
  })

  test('make the same log as entries with their hashes, whatever the server had of them', () => {
    for (let known = 0; known <= all.length; known++) {
      const { log } = appendEvents(emptyLog(), all.slice(0, known), MANY)
      for (let from = 0; from <= known; from++)
        assert.deepEqual(appendEvents(log, inside(all.slice(from)), MANY).log, whole.log, `${known} from ${from}`)
    }
  })

  test('break the chain when one of them was changed, in any place and part, before or after the server had it', () => {
    for (const [at, event] of all.entries())
      for (const change of [{ t: event.t + 1 }, { n: 3 }, { type: 'tab_hidden' as const }]) {
        const changed = all.map((one, index) => (index === at ? { ...one, ...change } : one))
        const { flags } = appendEvents(emptyLog(), inside(changed), MANY)
        assert.ok(flags.includes('BH_CHAIN_BROKEN'), `${at} ${JSON.stringify(change)}`)
        assert.deepEqual(appendEvents(whole.log, inside(changed), MANY).flags, ['BH_CHAIN_BROKEN'])
      }
  })

  test('break the chain when they do not lead to the hash that the payload names', () => {
    const { log } = appendEvents(emptyLog(), all.slice(0, 2), MANY)
    const wrong = inside(all.slice(2), { hash: 'x'.repeat(43) })
    assert.deepEqual(appendEvents(log, wrong, MANY).flags, ['BH_CHAIN_BROKEN'])
    assert.deepEqual(appendEvents(whole.log, wrong, MANY).flags, ['BH_CHAIN_BROKEN'])
  })

  test('after a gap cannot be checked up to the last one, which starts a new chain, as after a gap in the clear', () => {
    const { log } = appendEvents(emptyLog(), all.slice(0, 1), MANY)
    const cut = appendEvents(log, inside(all.slice(2)), MANY)
    assert.deepEqual(cut.flags, appendEvents(log, all.slice(2), MANY).flags)
    assert.ok(cut.flags.includes('BH_LOG_GAP') && !cut.flags.includes('BH_CHAIN_BROKEN'))
    assert.deepEqual([cut.log.seq, cut.log.hash], [5, all[4]?.hash])
    const again = appendEvents(cut.log, all.slice(2), MANY)
    assert.deepEqual(again, { log: cut.log, flags: [] }, 'the same with their hashes')
    const next = chain([{ type: 'failure', t: 5000 }], cut.log)
    assert.deepEqual(appendEvents(cut.log, next, MANY).flags, [])
  })

  test('of a full log are not kept', () => {
    const { log } = appendEvents(emptyLog(), all.slice(0, 2), MANY)
    const full = appendEvents(log, inside(all.slice(2)), { maxEvents: 4 })
    assert.deepEqual([full.flags, full.log.seq, full.log.hash], [['BH_LOG_GAP'], 4, all[3]?.hash])
  })
})

describe('the clock of the device', () => {
  const times = (...list: [Moment['type'], number][]) =>
    appendEvents(emptyLog(), chain(list.map(([type, t]) => ({ type, t }))), MANY)

  test('may stand still and may go back once, but not twice', () => {
    assert.deepEqual(times(['page_open', 5], ['failure', 5], ['failure', 5]).flags, [])
    assert.deepEqual(times(['page_open', 5], ['failure', 4], ['failure', 9]).flags, [])
    assert.deepEqual(times(['page_open', 5], ['failure', 4], ['failure', 9], ['failure', 8]).flags, [
      'BH_TIME_REGRESSION',
    ])
  })

  test('starts again when the page is loaded again', () => {
    const reloads = times(['page_open', 500], ['page_open', 5], ['failure', 900], ['page_open', 7], ['page_open', 1])
    assert.deepEqual([reloads.flags, reloads.log.regressions], [[], 0])
  })

  test('going back is counted over all calls', () => {
    const first = times(['page_open', 5], ['failure', 4]).log
    const second = appendEvents(first, chain([{ type: 'failure', t: 3 }], first), MANY)
    assert.deepEqual(second.flags, ['BH_TIME_REGRESSION'])
  })
})
