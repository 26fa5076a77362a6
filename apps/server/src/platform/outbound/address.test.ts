import assert from 'node:assert/strict'
import { BlockList, isIPv4 } from 'node:net'
import { test } from 'node:test'
import { isAllowedAddress, isPublicAddress, parseNetworks } from './address.ts'

/** Small seeded generator, so that a failing address can be reproduced. */
function generator(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** First and last address of each refused network, and the allowed neighbours. */
const IPV4_EDGES: readonly { refused: readonly string[]; allowed: readonly string[] }[] = [
  { refused: ['0.0.0.0', '0.0.0.1', '0.255.255.255'], allowed: ['1.0.0.0'] },
  { refused: ['10.0.0.0', '10.1.2.3', '10.255.255.255'], allowed: ['9.255.255.255', '11.0.0.0'] },
  {
    refused: ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
    allowed: ['100.63.255.255', '100.128.0.0', '100.0.0.1'],
  },
  { refused: ['127.0.0.0', '127.0.0.1', '127.1.2.3', '127.255.255.255'], allowed: ['126.255.255.255', '128.0.0.0'] },
  { refused: ['168.63.129.16'], allowed: ['168.63.129.15', '168.63.129.17'] },
  { refused: ['169.254.0.0', '169.254.169.254', '169.254.255.255'], allowed: ['169.253.255.255', '169.255.0.0'] },
  { refused: ['172.16.0.0', '172.17.0.1', '172.31.255.255'], allowed: ['172.15.255.255', '172.32.0.0'] },
  { refused: ['192.0.0.0', '192.0.0.192', '192.0.0.255'], allowed: ['191.255.255.255', '192.0.1.0'] },
  { refused: ['192.0.2.0', '192.0.2.255'], allowed: ['192.0.1.255', '192.0.3.0'] },
  { refused: ['192.88.99.0', '192.88.99.255'], allowed: ['192.88.98.255', '192.88.100.0'] },
  { refused: ['192.168.0.0', '192.168.255.255'], allowed: ['192.167.255.255', '192.169.0.0'] },
  { refused: ['198.18.0.0', '198.19.255.255'], allowed: ['198.17.255.255', '198.20.0.0'] },
  { refused: ['198.51.100.0', '198.51.100.255'], allowed: ['198.51.99.255', '198.51.101.0'] },
  { refused: ['203.0.113.0', '203.0.113.255'], allowed: ['203.0.112.255', '203.0.114.0'] },
  { refused: ['224.0.0.0', '224.0.0.1', '239.255.255.255'], allowed: ['223.255.255.255'] },
  { refused: ['240.0.0.0', '255.255.255.254', '255.255.255.255'], allowed: [] },
]

const IPV6_REFUSED = [
  '::',
  '::1',
  '::2',
  '0:0:0:0:0:0:0:1',
  '::8.8.8.8', // IPv4-compatible
  '::ffff:0:8.8.8.8', // IPv4-translated
  '64:ff9b:0:0:0:1:8.8.8.8', // next to NAT64
  '64:ff9b:1::', // local NAT64: where the IPv4 address stands in it is not known
  '64:ff9b:1::8.8.8.8',
  '64:ff9b:1:808:8:800::',
  '64:ff9b:1:a00:0:100:808:808',
  '64:ff9b:1:ffff:ffff:ffff:ffff:ffff',
  '100::',
  '100::1',
  '100::ffff:ffff:ffff:ffff',
  '100:0:0:1::1',
  '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001::',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2', // Teredo
  '2001:0:808:808:1:1:f7f7:f7f7',
  '2001:1::1',
  '2001:2::1', // benchmarks
  '2001:3::1',
  '2001:4:112::1',
  '2001:10::1', // ORCHID
  '2001:1f:ffff::1',
  '2001:20::1', // ORCHIDv2
  '2001:2f:ffff::1',
  '2001:30::1',
  '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db8::',
  '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:DB8::1',
  '3ffe::1',
  '3fff::',
  '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
  '4000::',
  '5f00::1',
  'fc00::',
  'fc00::1',
  'fd00:ec2::254',
  'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'fe00::1',
  'fe80::',
  'fe80::1',
  'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'fec0::1', // site-local
  'feff::1',
  'ff00::',
  'ff02::1',
  'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
]

const IPV6_PUBLIC = [
  '2000::',
  '2001:200::',
  '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db9::',
  '2001:4860:4860::8888',
  '2001:ffff::1',
  '2003::1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:80b::200e',
  '3ffd:ffff::1',
  '3fff:1000::',
  '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
]

const NO_ADDRESSES = [
  '',
  ' ',
  '8',
  '8.8',
  '8.8.8',
  '8.8.8.8.8',
  '8.8.8.256',
  '08.8.8.8',
  '0x8.8.8.8',
  '8.8.8.8 ',
  ' 8.8.8.8',
  '8.8.8.8\n',
  '8.8.8.8\0',
  '8.8.8.8/32',
  '8.8.8.8:80',
  '134744072',
  'example.com',
  'localhost',
  '[2003::1]',
  '2003::1::1',
  '2003:::1',
  ':2003::1',
  '2003::1/64',
  '2003::12345',
  '2003::g',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '2003::1%eth0',
  'fe80::1%1',
  '::ffff:8.8.8.8%lo',
  '::ffff:8.8.8',
  '::ffff:8.8.8.256',
  '８.８.８.８',
]

/** Every IPv6 form that leads to an IPv4 address, with the address both in hexadecimal and with dots where that is allowed. */
function formsOf(ipv4: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number)
  const high = ((a << 8) | b).toString(16)
  const low = ((c << 8) | d).toString(16)
  return [
    `::ffff:${ipv4}`,
    `::FFFF:${ipv4}`,
    `0:0:0:0:0:ffff:${ipv4}`,
    `::ffff:${high}:${low}`,
    `64:ff9b::${ipv4}`,
    `64:ff9b::${high}:${low}`,
    `0064:FF9B:0:0:0:0:${high}:${low}`,
    `2002:${high}:${low}::`,
    `2002:${high}:${low}::1`,
    `2002:${high}:${low}:ffff:ffff:ffff:808:808`,
  ]
}

test('IPv4: networks that are not public are refused, from their first to their last address', () => {
  for (const { refused, allowed } of IPV4_EDGES) {
    for (const ip of refused) assert.equal(isPublicAddress(ip), false, ip)
    for (const ip of allowed) assert.equal(isPublicAddress(ip), true, ip)
  }
})

test('IPv6: only addresses assigned for the public internet are allowed', () => {
  for (const ip of IPV6_REFUSED) assert.equal(isPublicAddress(ip), false, ip)
  for (const ip of IPV6_PUBLIC) assert.equal(isPublicAddress(ip), true, ip)
})

test('a text that is not an address, or has a zone, is not public', () => {
  for (const text of NO_ADDRESSES) assert.equal(isPublicAddress(text), false, JSON.stringify(text))
})

test('IPv4 inside IPv6 is as public as it is by itself', () => {
  const edges = IPV4_EDGES.flatMap(({ refused, allowed }) => [...refused, ...allowed])
  const below = generator(1)
  const random = Array.from({ length: 5_000 }, () => Array.from({ length: 4 }, () => below(256)).join('.'))
  for (const ip of [...edges, ...random])
    for (const form of formsOf(ip)) assert.equal(isPublicAddress(form), isPublicAddress(ip), form)
})

test('IPv4: random addresses, against Node’s own matching of networks', () => {
  const refused = new BlockList()
  for (const [base, prefix] of [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['168.63.129.16', 32],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 3],
  ] as const)
    refused.addSubnet(base, prefix, 'ipv4')
  const below = generator(2)
  const first = [0, 10, 100, 127, 168, 169, 172, 192, 198, 203, 224, 240, 255]
  const second = [0, 16, 18, 31, 51, 63, 64, 88, 127, 168, 254]
  for (let i = 0; i < 50_000; i++) {
    const near = i % 2 === 0
    const a = near ? first[below(first.length)] : below(256)
    const b = near ? second[below(second.length)] : below(256)
    const ip = `${a}.${b}.${near ? [0, 2, 99, 100, 113, 129][below(6)] : below(256)}.${below(256)}`
    assert.equal(isPublicAddress(ip), !refused.check(ip, 'ipv4'), ip)
  }
})

test('IPv6: random addresses, however they are written', () => {
  const below = generator(3)
  let seenPublic = 0
  for (let i = 0; i < 20_000; i++) {
    const groups = Array.from({ length: 8 }, () => (below(3) === 0 ? 0 : below(65_536)))
    const full = groups.map((group) => group.toString(16).padStart(4, '0')).join(':')
    const short = new URL(`http://[${full}]/`).hostname.slice(1, -1)
    const verdict = isPublicAddress(full)
    for (const spelling of [short, full.toUpperCase(), groups.map((group) => group.toString(16)).join(':')])
      assert.equal(isPublicAddress(spelling), verdict, spelling)
    const first = groups[0] ?? 0
    if (first >> 13 !== 1) assert.equal(verdict, false, full)
    else if (![0x2001, 0x2002, 0x3ffe, 0x3fff].includes(first)) assert.equal(verdict, true, full)
    if (verdict) seenPublic++
  }
  assert.ok(seenPublic > 1_000)
})

test('networks that the operator allows are allowed on top of the public ones', () => {
  const allow = parseNetworks(['127.0.0.1/32', '10.20.0.0/16', 'fd00:1::/32', '::1'])
  for (const ip of ['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1', '10.20.255.255', 'fd00:1:ffff::1', '::1'])
    assert.equal(isAllowedAddress(ip, allow), true, ip)
  for (const ip of [
    '127.0.0.2',
    '::ffff:127.0.0.2',
    '10.21.0.0',
    '10.19.255.255',
    'fd00:2::1',
    '::',
    '::2',
    '::0.0.0.2',
  ])
    assert.equal(isAllowedAddress(ip, allow), false, ip)
  // Not through a translator: we cannot know which address it connects to.
  for (const ip of ['64:ff9b::127.0.0.1', '2002:7f00:1::', '2002:a14:1::'])
    assert.equal(isAllowedAddress(ip, allow), false, ip)
  assert.equal(isAllowedAddress('9.9.9.9', allow), true)
  assert.equal(isAllowedAddress('::1%lo', allow), false)
  assert.equal(isAllowedAddress('localhost', allow), false)
})

test('an IPv4 network allows no IPv6 address, and the other way round', () => {
  const everyIPv4 = parseNetworks(['0.0.0.0/0'])
  assert.equal(isAllowedAddress('127.0.0.1', everyIPv4), true)
  assert.equal(isAllowedAddress('::1', everyIPv4), false)
  const everyIPv6 = parseNetworks(['::/0'])
  assert.equal(isAllowedAddress('::1', everyIPv6), true)
  assert.equal(isAllowedAddress('127.0.0.1', everyIPv6), false)
  assert.equal(isAllowedAddress('::ffff:127.0.0.1', everyIPv6), false)
})

test('random networks, against Node’s own matching', () => {
  const below = generator(4)
  const bytes = (count: number) => Array.from({ length: count }, () => below(256))
  const write = (value: readonly number[]) =>
    value.length === 4
      ? value.join('.')
      : Array.from({ length: 8 }, (_, i) => (((value[2 * i] ?? 0) << 8) | (value[2 * i + 1] ?? 0)).toString(16)).join(
          ':',
        )
  for (let i = 0; i < 3_000; i++) {
    const size = i % 2 === 0 ? 4 : 16
    const prefix = below(size * 8 + 1)
    const keep = (at: number) => 0xff & ~(0xff >> Math.min(8, Math.max(0, prefix - at * 8)))
    // 10.x and fdxx are never public, so that only the network can allow them.
    const base = [size === 4 ? 10 : 0xfd, ...bytes(size - 1)].map((byte, at) => byte & keep(at))
    const allow = parseNetworks([`${write(base)}/${prefix}`])
    const node = new BlockList()
    node.addSubnet(write(base), prefix, size === 4 ? 'ipv4' : 'ipv6')
    const other = [size === 4 ? 10 : 0xfd, ...bytes(size - 1)]
    const flipped = base.map((byte, at) => (at === below(size) ? byte ^ (1 << below(8)) : byte))
    for (const ip of [write(base), write(other), write(flipped)]) {
      const expected = node.check(ip, isIPv4(ip) ? 'ipv4' : 'ipv6') || isPublicAddress(ip)
      assert.equal(isAllowedAddress(ip, allow), expected, `${ip} in ${write(base)}/${prefix}`)
    }
  }
})

test('a text that is not a network is refused', () => {
  for (const text of [
    '',
    '/8',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/1e1',
    '10.0.0.0/ 8',
    '10.0.0/8',
    '10.0.0.1/8',
    'fd00::/129',
    'fd00::1/64',
    'fe80::1%eth0',
    '::ffff:10.0.0.0/104',
    '::ffff:10.0.0.1',
    'localhost',
    '*',
  ])
    assert.throws(() => parseNetworks([text]), Error, text)
})
