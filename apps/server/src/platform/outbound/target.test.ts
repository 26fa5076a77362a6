import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNetworks } from './address.ts'
import { addressIn, checkTarget, type TargetFault, type TargetPolicy } from './target.ts'

const STRICT: TargetPolicy = { allowHttp: false, allowNetworks: [] }
const LOOPBACK: TargetPolicy = { allowHttp: true, allowNetworks: parseNetworks(['127.0.0.1/32', '::1']) }

function faultOf(url: string, policy = STRICT): TargetFault | 'ok' {
  const verdict = checkTarget(url, policy)
  return verdict.ok ? 'ok' : verdict.reason
}

test('plain https URLs pass', () => {
  for (const url of [
    'https://lists.example',
    'https://lists.example/',
    'HTTPS://Lists.Example/a/b?c=d#e',
    'https://a-b.c_d.xn--bcher-kva.example/%20?q=%00',
    'https://lists.example/http://localhost@127.0.0.1/',
    'https://lists.example?x=@localhost',
    'https://localhost.example/',
    'https://internal.example/',
    'https://my.notlocal/',
    'https://9.9.9.9/',
    'https://[2620:fe::fe]/',
    `https://${'a'.repeat(63)}.example/`,
  ])
    assert.equal(faultOf(url), 'ok', url)
})

test('the answer is the parsed URL', () => {
  const verdict = checkTarget('https://Lists.Example:8443/a?b', STRICT)
  assert.ok(verdict.ok)
  assert.equal(verdict.url.href, 'https://lists.example:8443/a?b')
})

test('refused URLs, each with its reason', () => {
  const tooLong = `https://lists.example/${'a'.repeat(2_048 - 'https://lists.example/'.length)}`
  assert.equal(faultOf(tooLong), 'ok')
  const cases: Readonly<Record<Exclude<TargetFault, 'port' | 'address' | 'host_notation'>, readonly string[]>> = {
    length: ['', `${tooLong}a`],
    characters: [
      ' https://lists.example/',
      'https://lists.example/ ',
      'https://lists.example/a b',
      'https://lists.example/\n',
      'ht\ttps://lists.example/',
      'https://lists.ex\nample/',
      'https://lists.example/\0',
      'https://lists.example\\@127.0.0.1/',
      'https:\\\\lists.example/',
      'https://lists.example/\u00e9',
      'https://b\u00fccher.example/',
      'https://１２７.0.0.1/',
      'https://127。0。0。1/',
      'https://loc\u00adalhost.example/',
    ],
    syntax: [
      'lists.example',
      '//lists.example/',
      '/path',
      'https:',
      'https:/',
      'https://',
      'https:lists.example',
      'https:/lists.example',
      'https:///lists.example',
      'https://?x',
      'https://#',
      'javascript:alert(1)',
      'data:text/plain,x',
      'file:///etc/passwd',
      'https://lists.example:99999/',
      'https://lists.example:port/',
      'https://[::1/',
      'https://[::g]/',
      'https://1.2.3.4.5/',
      'https://256.1.1.1/',
      'https://a<b.example/',
    ],
    scheme: [
      'http://lists.example/',
      'HTTP://lists.example/',
      'ftp://lists.example/',
      'file://lists.example/etc/passwd',
      'gopher://lists.example/',
      'ws://lists.example/',
      'wss://lists.example/',
      'blob://lists.example/',
    ],
    credentials: [
      'https://user@lists.example/',
      'https://user:password@lists.example/',
      'https://:password@lists.example/',
      'https://@lists.example/',
      'https://lists.example@127.0.0.1/',
      'https://127.0.0.1:80@lists.example/',
    ],
    host_name: [
      'https://lists.example./',
      'https://localhost./',
      'https://lists.example../',
      'https://.lists.example/',
      'https://lists..example/',
      'https://-lists.example/',
      'https://lists-.example/',
      'https://*.example/',
      'https://a~b.example/',
      "https://a'b.example/",
      `https://${'a'.repeat(64)}.example/`,
      `https://${'a.'.repeat(124)}example/`,
    ],
    local_name: [
      'https://localhost/',
      'https://LOCALHOST:8443/',
      'https://a.localhost/',
      'https://printer.local/',
      'https://metadata.google.internal/',
      'https://db.intranet/',
      'https://localhost.localdomain/',
      'https://nas.lan/',
      'https://nas.home/',
      'https://nas.home.arpa/',
      'https://wiki.corp/',
      'https://redis/',
      'https://kubernetes/',
      'https://_/',
    ],
  }
  for (const [reason, urls] of Object.entries(cases))
    for (const url of urls) assert.equal(faultOf(url), reason, JSON.stringify(url))
})

test('hosts that become an address only by parsing are refused, even if the address is allowed', () => {
  for (const host of [
    '127.1',
    '127.0.1',
    '127.0.0.1.',
    '0x7f.1',
    '0x7F000001',
    '0x7f.0x0.0x0.0x1',
    '2130706433',
    '017700000001',
    '0177.0.0.1',
    '127.0.0.01',
    '%31%32%37.0.0.1',
    '127%2e0%2e0%2e1',
    '%6cocalhost',
    'lists%2eexample',
    '[0:0:0:0:0:0:0:1]',
    '[::0001]',
    '[::ffff:127.0.0.1]',
  ])
    assert.equal(faultOf(`http://${host}:8080/`, LOOPBACK), 'host_notation', host)
  assert.equal(new URL('http://0x7f.1/').hostname, '127.0.0.1', 'the parser does what this is about')
})

test('addresses are refused unless they are public or allowed', () => {
  for (const host of [
    '127.0.0.1',
    '127.0.0.2',
    '0.0.0.0',
    '10.0.0.1',
    '169.254.169.254',
    '192.168.1.1',
    '255.255.255.255',
    '[::]',
    '[::1]',
    '[::ffff:7f00:1]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:7f00:1::]',
    '[fd00:ec2::254]',
    '[fe80::1]',
  ])
    assert.equal(faultOf(`https://${host}/`), 'address', host)
  for (const host of ['127.0.0.1', '[::1]', '[::ffff:7f00:1]'])
    assert.equal(faultOf(`http://${host}:8080/`, LOOPBACK), 'ok', host)
  for (const host of ['127.0.0.2', '[::]', '169.254.169.254', '10.0.0.1'])
    assert.equal(faultOf(`https://${host}/`, LOOPBACK), 'address', host)
  assert.equal(faultOf('https://localhost/', LOOPBACK), 'local_name', 'an allowed network allows no name')
})

test('http is accepted only where the policy permits it', () => {
  assert.equal(faultOf('http://lists.example/', LOOPBACK), 'ok')
  assert.equal(faultOf('http://lists.example:80/', LOOPBACK), 'ok')
  assert.equal(faultOf('https://lists.example:80/', LOOPBACK), 'port')
  assert.equal(faultOf('ftp://lists.example/', LOOPBACK), 'scheme')
})

test('port 443 and ports from 1024 are accepted, except those of databases, mail and control planes', () => {
  for (const port of ['', ':', ':443', ':0443', ':8443', ':1024', ':8080', ':9443', ':65535'])
    assert.equal(faultOf(`https://lists.example${port}/`), 'ok', port)
  for (const port of [0, 1, 21, 22, 23, 25, 80, 110, 143, 389, 445, 465, 587, 993, 1023])
    assert.equal(faultOf(`https://lists.example:${port}/`), 'port', String(port))
  for (const port of [1433, 2375, 2379, 2525, 3306, 5432, 6379, 6443, 9200, 10250, 11211, 27017])
    assert.equal(faultOf(`https://lists.example:${port}/`), 'port', String(port))
})

test('no text makes it throw', () => {
  const pieces = ['http', 's', ':', '/', '//', '@', '[', ']', '::1', '127.0.0.1', '.', '%', '%00', '?', '#', '\\', ' ', 'a', '\u{1f600}', '\ud800', '0x', '-', '443'] // biome-ignore format: one row
  let state = 7
  const below = (count: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * count)
  }
  for (let i = 0; i < 20_000; i++) {
    const text = Array.from({ length: below(9) }, () => pieces[below(pieces.length)]).join('')
    for (const url of [text, `https://${text}`]) {
      const verdict = checkTarget(url, STRICT)
      if (!verdict.ok) continue
      assert.equal(verdict.url.protocol, 'https:', url)
      assert.equal(verdict.url.username + verdict.url.password, '', url)
      assert.equal(addressIn(verdict.url), undefined, 'none of the addresses here is public')
    }
  }
})

test('an IPv6 address is returned without its brackets', () => {
  assert.equal(addressIn(new URL('https://[::1]:8443/')), '::1')
  assert.equal(addressIn(new URL('https://127.0.0.1/')), '127.0.0.1')
  assert.equal(addressIn(new URL('https://lists.example/')), undefined)
})
