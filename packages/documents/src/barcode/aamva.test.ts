import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { parseAamva } from './aamva.ts'

const ELEMENTS = {
  DAQ: 'D1234567',
  DCS: 'LUNE',
  DDE: 'N',
  DAC: 'MIRA',
  DAD: 'ODA',
  DBB: '02291984',
  DBA: '11172030',
  DAJ: 'CA',
  DCG: 'USA',
}

interface CardHabits {
  elements?: Record<string, string>
  version?: number
  subfile?: string
  lineEnd?: string
  offset?: string
}

function card({ elements = {}, version = 10, subfile = 'DL', lineEnd = '\n', offset = '0041' }: CardHabits = {}) {
  const lines = Object.entries({ ...ELEMENTS, ...elements }).flatMap(([name, value]) =>
    value === '' ? [] : [name + value],
  )
  const body = `${subfile}${lines.join(lineEnd)}\r`
  const entries = version === 1 ? '01' : '0001'
  const length = String(body.length).padStart(4, '0')
  return `@\n\x1e\rANSI 636014${String(version).padStart(2, '0')}${entries}${subfile}${offset}${length}${body}`
}

const EXPECTED = {
  source: 'AAMVA',
  kind: 'drivers_license',
  issuer: 'USA-CA',
  number: 'D1234567',
  familyName: 'LUNE',
  givenNames: 'MIRA ODA',
  birth: '1984-02-29',
  expiry: '2030-11-17',
  checks: [],
}

for (let version = 2; version <= 10; version += 1)
  test(`a card of version ${version} is read`, () => assert.deepEqual(parseAamva(card({ version })), EXPECTED))

test('version 1 prints dates from the year on, and all names in one element', () => {
  const elements = { DCS: '', DAC: '', DAD: '', DCG: '', DAA: 'LUNE,MIRA,ODA', DBB: '19840229', DBA: '20301117' }
  assert.deepEqual(parseAamva(card({ version: 1, elements })), EXPECTED)
})

test('given names in one element, as versions 2 and 3 have them, are read', () => {
  const elements = { DAC: '', DAD: '', DCT: 'MIRA,ODA' }
  assert.equal(parseAamva(card({ version: 3, elements }))?.givenNames, 'MIRA ODA')
})

test('a Canadian card prints dates from the year on', () => {
  const elements = { DCG: 'CAN', DAJ: 'ON', DBB: '19840229', DBA: '20301117' }
  assert.deepEqual(parseAamva(card({ elements })), { ...EXPECTED, issuer: 'CAN-ON' })
})

test('an identity card and an enhanced licence have different kinds', () => {
  assert.equal(parseAamva(card({ subfile: 'ID' }))?.kind, 'national_id')
  assert.equal(parseAamva(card({ subfile: 'EN' }))?.kind, 'drivers_license')
})

test('line ends of every habit, padding, lower case, wrong offsets and foreign subfiles change nothing', () => {
  assert.deepEqual(parseAamva(card({ lineEnd: '\r\n' })), EXPECTED)
  assert.deepEqual(parseAamva(card({ lineEnd: '\r' })), EXPECTED)
  assert.deepEqual(parseAamva(card().replaceAll('\r', '')), EXPECTED)
  assert.deepEqual(parseAamva(card({ elements: { DCS: 'LUNE     ', DAQ: '  D1234567 ' } })), EXPECTED)
  assert.deepEqual(parseAamva(card().toLowerCase()), EXPECTED)
  assert.deepEqual(parseAamva(card({ offset: '9999' })), EXPECTED)
  assert.deepEqual(parseAamva(`${card()}ZCZCAY\nZCBDBB01011950\r`), EXPECTED)
  assert.deepEqual(parseAamva(card().replace('ANSI ', 'AAMVA')), EXPECTED)
})

test('a card without an expiry prints the year 9999 and does not expire', () => {
  const text = parseAamva(card({ elements: { DBA: '12319999' } }))
  assert.ok(text && 'expiry' in text && text.expiry === undefined)
})

test('a card without a state is issued by the number in its header', () => {
  assert.equal(parseAamva(card({ elements: { DAJ: '' } }))?.issuer, 'USA-636014')
})

test('a card without birth date, expiry or number is not read, nor one with days that do not exist', () => {
  for (const name of ['DBB', 'DBA', 'DAQ'])
    assert.equal(parseAamva(card({ elements: { [name]: '' } })), undefined, name)
  for (const date of ['02291985', '13011984', '00001984', '0229198', '1984-2-29', '99999999', '01011850'])
    assert.equal(parseAamva(card({ elements: { DBB: date } })), undefined, date)
})

test('a card that states two birth dates is not read', () => {
  assert.equal(parseAamva(card().replace('DBB02291984', 'DBB02291984\nDBB02291964')), undefined)
  assert.deepEqual(parseAamva(card().replace('DBB02291984', 'DBB02291984\nDBB02291984')), EXPECTED)
})

test('other barcodes are not cards', () => {
  for (const text of [
    '',
    'M1LUNE/MIRA',
    'DLDAQ123',
    'ANSI 636014',
    `x${card().slice(1)}`,
    '@\n\x1e\rANSI 636014100001DL',
  ])
    assert.equal(parseAamva(text), undefined, text)
})

for (const zone of ['Asia/Tokyo', 'America/Los_Angeles'])
  test(`dates stay the same in ${zone}, and nothing of a card is printed`, () => {
    const script = `
      const { parseAamva } = await import(${JSON.stringify(new URL('./aamva.ts', import.meta.url).href)})
      const { ageOn } = await import(${JSON.stringify(new URL('../day.ts', import.meta.url).href)})
      const text = parseAamva(process.env.CARD)
      process.stdout.write([text.birth, text.expiry, ageOn('2026-02-28', '2008-02-28'), new Date(0).getHours()].join(' '))`
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
      env: { TZ: zone, CARD: card().replaceAll('\r', '\n') },
      encoding: 'utf8',
    })
    assert.equal(printed, `1984-02-29 2030-11-17 18 ${zone === 'Asia/Tokyo' ? 9 : 16}`)
  })
