import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { figureAtMost } from '@ostiary/testkit/measuring/test-figure'
import { startStopwatch } from '../../testing/stopwatch.ts'
import { createResolver, type ResolverOptions } from './resolver.ts'
import { createNameServer, type NameServer, type Zone } from './testing/name-server.ts'

const running: NameServer[] = []
after(() => {
  for (const one of running) one.close()
})

async function setUp(zone: Zone, options: ResolverOptions = {}) {
  const nameServer = await createNameServer(zone)
  running.push(nameServer)
  const resolve = createResolver({ servers: [nameServer.server], timeoutMs: 2_000, ...options })
  const lookup = (host: string, owner = 'tenant') => resolve(host, owner)
  return { lookup, asked: nameServer.asked }
}

describe('the addresses of a name', () => {
  test('are all that the name server has, those of IPv4 first', async () => {
    const { lookup, asked } = await setUp((_name, kind) =>
      kind === 'A' ? ['192.0.2.1', '192.0.2.2'] : ['2001:db8::1', '2001:db8::2'],
    )
    const [first, second, ...rest] = await lookup('host.example')
    // A name server rotates its answers to spread the load.
    assert.deepEqual(
      [[first, second].sort(), rest.sort()],
      [
        ['192.0.2.1', '192.0.2.2'],
        ['2001:db8::1', '2001:db8::2'],
      ],
    )
    assert.deepEqual(asked.sort(), ['host.example A', 'host.example AAAA'])
  })

  test('one record type is enough, even if the query for the other is never answered', async () => {
    const { lookup } = await setUp((name, kind) => {
      if (kind === 'AAAA') return name === 'silent.example' ? 'silence' : []
      return name === 'six.example' ? undefined : ['192.0.2.1']
    })
    assert.deepEqual(await lookup('four.example'), ['192.0.2.1'])
    assert.deepEqual(await lookup('silent.example'), ['192.0.2.1'])
    await assert.rejects(lookup('six.example'), { code: 'ENOTFOUND' })
  })

  test('a name that does not exist fails at once; one that is never answered fails at the time limit', async () => {
    const zone = (name: string) => (name === 'silent.example' ? 'silence' : undefined)
    const withLongTimeout = await setUp(zone, { timeoutMs: 10_000 })
    await assert.rejects(withLongTimeout.lookup('none.example'), { code: 'ENOTFOUND' })
    const { lookup } = await setUp(zone, { timeoutMs: 300 })
    const [started, ranMs] = [performance.now(), startStopwatch()]
    await assert.rejects(lookup('silent.example'), { code: 'ETIMEOUT' })
    assert.ok(performance.now() - started >= 250)
    await figureAtMost('resolver.given-up-ms', 2_000, ranMs())
  })
})

describe('names that hang', () => {
  test('do not delay other names', async () => {
    const { lookup, asked } = await setUp((name) => (name.startsWith('hang') ? 'silence' : ['192.0.2.1']), {
      timeoutMs: 2_000,
    })
    // An owner has 50 slots.
    const hanging = Array.from({ length: 49 }, (_, n) => lookup(`hang${n}.example`).catch(() => 'failed'))
    await eventually(() => asked.some((question) => question.startsWith('hang48')), 'all names are asked for')
    await figureAtMost('resolver.beside-hanging-ms', 1_000, async () => {
      const ranMs = startStopwatch()
      assert.deepEqual(await lookup('good.example'), ['192.0.2.1'])
      return ranMs()
    })
    await Promise.all(hanging)
  })

  test('are limited to so many at once; further ones wait for a slot', async () => {
    let failed = 0
    const failedBefore: number[] = []
    const { lookup } = await setUp(
      (name) => {
        if (name.startsWith('hang')) return 'silence'
        failedBefore.push(failed)
        return ['192.0.2.1']
      },
      { openMax: 2, perOwner: 2 },
    )
    const hanging = ['hang1.example', 'hang2.example'].map((name) => lookup(name).catch(() => failed++))
    assert.deepEqual(await lookup('good.example'), ['192.0.2.1'])
    assert.ok(
      failedBefore.length > 0 && failedBefore.every((count) => count > 0),
      'asked for only after one had failed',
    )
    await Promise.all(hanging)
  })

  test('of one owner leave slots to the others', async () => {
    const { lookup, asked } = await setUp((name) => (name.startsWith('hang') ? 'silence' : ['192.0.2.1']), {
      openMax: 8,
      timeoutMs: 60_000,
    })
    for (let n = 0; n < 100; n++) void lookup(`hang${n}.example`).catch(() => {})
    assert.deepEqual(await lookup('good.example', 'other'), ['192.0.2.1'])
    const hanging = asked.filter((question) => question.startsWith('hang') && question.endsWith(' A'))
    assert.ok(hanging.length <= 2, `${hanging.length} names of one owner are asked for at once`)
  })

  test('are not queried again at once, but after a moment', async () => {
    let isThere = false
    const { lookup, asked } = await setUp(() => (isThere ? ['192.0.2.1'] : undefined), { failedMs: 3_000 })
    await assert.rejects(lookup('host.example'), { code: 'ENOTFOUND' })
    const questions = asked.length
    isThere = true
    await assert.rejects(lookup('host.example'), { code: 'ENOTFOUND' })
    assert.equal(asked.length, questions)
    const found = await eventually(() => lookup('host.example').catch(() => undefined), 'it is asked for again')
    assert.deepEqual(found, ['192.0.2.1'])
  })
})
