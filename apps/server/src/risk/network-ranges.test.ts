import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { describe, test } from 'node:test'
import { seededRandom } from '@ostiary/device/simulated'
import { createRangesBuilder, type NetworkRanges, parseNetwork } from './network-ranges.ts'

/** Each network has its position as its value: the first has 1. */
function rangesOf(...networks: readonly string[]): NetworkRanges {
  const builder = createRangesBuilder()
  for (const [at, network] of networks.entries()) builder.add(parseNetwork(network), at + 1)
  return finish(builder.build())
}

function finish<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

describe('an address', () => {
  const BORDERS: [network: string, inside: string[], outside: string[]][] = [
    ['192.0.2.0/24', ['192.0.2.0', '192.0.2.255'], ['192.0.1.255', '192.0.3.0']],
    ['198.51.100.8/29', ['198.51.100.8', '198.51.100.15'], ['198.51.100.7', '198.51.100.16']],
    ['203.0.113.7', ['203.0.113.7'], ['203.0.113.6', '203.0.113.8']],
    ['128.0.0.0/1', ['128.0.0.0', '255.255.255.255'], ['127.255.255.255', '::1']],
    ['0.0.0.0/0', ['0.0.0.0', '255.255.255.255'], ['::', '2001:db8::1']],
    ['2001:db8::/32', ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'], ['2001:db7:ffff::', '2001:db9::']],
    ['2001:db8:0:8000::/49', ['2001:db8:0:8000::', '2001:db8:0:ffff::1'], ['2001:db8:0:7fff::', '2001:db8:1::']],
    ['2001:db8::a0/123', ['2001:db8::a0', '2001:db8::bf'], ['2001:db8::9f', '2001:db8::c0']],
    ['2001:db8::7', ['2001:db8::7'], ['2001:db8::6', '2001:db8::8']],
    ['::/0', ['::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'], ['0.0.0.0', '::ffff:1.2.3.4']],
  ]
  for (const [network, inside, outside] of BORDERS) {
    test(`is in ${network} from its first to its last, and not beside them`, () => {
      const ranges = rangesOf(network)
      for (const address of inside) assert.equal(ranges.find(address), 1, address)
      for (const address of outside) assert.equal(ranges.find(address), 0, address)
    })
  }

  test('of IPv4 that is written as IPv6 is the IPv4 address', () => {
    const ranges = rangesOf('192.0.2.0/24', '2001:db8::/32')
    for (const mapped of ['::ffff:192.0.2.1', '::FFFF:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:ffff:c000:0201'])
      assert.equal(ranges.find(mapped), 1, mapped)
    assert.equal(ranges.find('::ffff:192.0.3.1'), 0)
    assert.equal(ranges.find('::192.0.2.1'), 0, 'an IPv4-compatible address is another one')
    assert.equal(ranges.find('2001:db8::192.0.2.1'), 2)
  })

  test('that is malformed, or has a zone, is in no network', () => {
    const ranges = rangesOf('0.0.0.0/0', '::/0')
    for (const text of ['', 'unknown', '192.0.2', '192.0.2.256', '192.0.2.1:443', 'fe80::1%eth0', '2001:db8::g'])
      assert.equal(ranges.find(text), 0, text)
  })
})

describe('networks that lie within each other', () => {
  const NESTED = ['10.0.0.0/8', '10.1.0.0/16', '10.1.2.0/24', '10.1.2.3', '10.3.0.0/16', '12.0.0.0/8']
  const EXPECTED: [address: string, network: string | undefined][] = [
    ['10.0.0.1', '10.0.0.0/8'],
    ['10.1.0.1', '10.1.0.0/16'],
    ['10.1.2.2', '10.1.2.0/24'],
    ['10.1.2.3', '10.1.2.3'],
    ['10.1.2.4', '10.1.2.0/24'],
    ['10.1.3.0', '10.1.0.0/16'],
    ['10.2.0.0', '10.0.0.0/8'],
    ['10.3.4.5', '10.3.0.0/16'],
    ['10.255.255.255', '10.0.0.0/8'],
    ['11.0.0.0', undefined],
    ['12.0.0.0', '12.0.0.0/8'],
  ]
  for (const [how, networks] of [
    ['the widest first', NESTED],
    ['the smallest first', NESTED.toReversed()],
  ] as const) {
    test(`are distinguished: the smallest one counts, ${how}`, () => {
      const ranges = rangesOf(...networks)
      for (const [address, network] of EXPECTED) assert.equal(networks[ranges.find(address) - 1], network, address)
    })
  }

  test('that begin at the same address are distinguished by their size', () => {
    const ranges = rangesOf('10.0.0.0/16', '10.0.0.0/24', '10.0.0.0/8', '10.0.0.0')
    const found = ['10.0.0.0', '10.0.0.1', '10.0.1.0', '10.1.0.0'].map((address) => ranges.find(address))
    assert.deepEqual(found, [4, 2, 1, 3])
  })

  test('a network that comes twice is one, with the later value', () => {
    const ranges = rangesOf('10.0.0.0/8', '2001:db8::/32', '10.0.0.0/8', '2001:db8::/32')
    assert.deepEqual([ranges.size, ranges.find('10.1.1.1'), ranges.find('2001:db8::1')], [2, 3, 4])
  })
})

test('random networks, asked for random addresses, agree with the list that Node has', () => {
  const random = seededRandom(14)
  const below = (limit: number) => Math.floor(random() * limit)
  // Few different bytes, so that networks overlap and addresses hit.
  const byte = () => [0, 1, 127, 128, 254, 255][below(6)] ?? 0
  const FAMILIES = [
    { family: 'ipv4', parts: 4, bits: 8, separator: '.', part: () => String(byte()) },
    { family: 'ipv6', parts: 8, bits: 16, separator: ':', part: () => (byte() * 257).toString(16) },
  ] as const
  for (const { family, parts, bits, separator, part } of FAMILIES) {
    /** An address with zeros after its first parts. */
    const address = (set: number) => Array.from({ length: parts }, (_, at) => (at < set ? part() : '0')).join(separator)
    let hits = 0
    for (let round = 0; round < 40; round++) {
      const known = new BlockList()
      const builder = createRangesBuilder()
      for (let count = 0; count < 50; count++) {
        const set = 2 + below(parts - 1)
        const [base, prefix] = [address(set), set * bits + below((parts - set) * bits + 1)]
        builder.add(parseNetwork(`${base}/${prefix}`), 1)
        known.addSubnet(base, prefix, family)
      }
      const ranges = finish(builder.build())
      for (let count = 0; count < 50; count++) {
        const asked = address(1 + below(parts))
        const isListed = known.check(asked, family)
        assert.equal(ranges.find(asked), isListed ? 1 : 0, asked)
        if (isListed) hits++
      }
    }
    assert.ok(hits > 100 && hits < 1_900, `${hits} hits of ${family}`)
  }
})

describe('what is no network', () => {
  for (const [text, why] of [
    ['', /^is not a network such as/],
    ['example.org', /^is not a network such as/],
    ['192.0.2.0/24/8', /^is not a network such as/],
    ['192.0.2.0/', /^is not a network such as/],
    ['192.0.2.0/-1', /^is not a network such as/],
    ['192.0.2.0/+8', /^is not a network such as/],
    ['192.0.2.0-192.0.2.9', /^is not a network such as/],
    ['010.0.0.0/8', /^is not a network such as/],
    ['fe80::1%eth0/64', /^is not a network such as/],
    ['192.0.2.0/33', /^has a prefix that is longer/],
    ['2001:db8::/129', /^has a prefix that is longer/],
    ['192.0.2.1/24', /^does not begin at the first address/],
    ['192.0.2.0/0', /^does not begin at the first address/],
    ['2001:db8::1/64', /^does not begin at the first address/],
    ['2001:db8:0:1::/48', /^does not begin at the first address/],
    ['::ffff:192.0.2.0/120', /^is an IPv4 network that is written as IPv6/],
  ] as const) {
    test(`${text === '' ? 'an empty text' : text} is refused with its reason`, () => {
      assert.throws(
        () => parseNetwork(text),
        (error: Error) => why.test(error.message),
      )
    })
  }
})
