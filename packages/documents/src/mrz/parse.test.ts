import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDigit } from './check-digits.ts'
import { parseMrz } from './parse.ts'
import { STATE_CODES } from './states.ts'

const TODAY = '2026-11-17'

/** The second line of a passport with every digit right. */
function passportLine({
  number = 'X1234567',
  state = 'UTO',
  birth = '080229',
  sex = 'F',
  expiry = '310101',
  optional = '',
}) {
  const head = `${number.padEnd(9, '<')}${checkDigit(number.padEnd(9, '<'))}`
  const dates = [`${birth}${checkDigit(birth)}`, `${expiry}${checkDigit(expiry)}`]
  const rest = optional.padEnd(14, '<')
  const tail = `${rest}${optional === '' ? '<' : checkDigit(rest)}`
  return `${head}${state.padEnd(3, '<')}${dates[0]}${sex}${dates[1]}${tail}${checkDigit(head + dates.join('') + tail)}`
}

const passport = (first: string, second = passportLine({})) => parseMrz('TD3', [first.padEnd(44, '<'), second], TODAY)

test('a passport is read in full', () => {
  assert.deepEqual(passport('P<UTOVAN<DER<LUNE<<MIRA<ODA'), {
    source: 'TD3',
    kind: 'passport',
    issuer: 'UTO',
    number: 'X1234567',
    familyName: 'VAN DER LUNE',
    givenNames: 'MIRA ODA',
    birth: '2008-02-29',
    expiry: '2031-01-01',
    checks: ['number', 'birth', 'expiry', 'optional', 'composite'].map((of) => ({ of, holds: true })),
  })
})

test('passports of every state are read, with the fillers of short codes removed', () => {
  for (const code of STATE_CODES) {
    const text = passport(`P<${code.padEnd(3, '<')}LUNE<<MIRA`, passportLine({ state: code }))
    assert.equal(text?.issuer, code)
    assert.ok(text.checks.every(({ holds }) => holds))
  }
})

test('names without given names, with a filled field or without a family name are read as they stand', () => {
  const names = (text: string) => {
    const { familyName, givenNames } = passport(`P<UTO${text}`) ?? {}
    return [familyName, givenNames]
  }
  assert.deepEqual(names('MONONYM'), ['MONONYM', ''])
  assert.deepEqual(names('<<MIRA'), ['', 'MIRA'])
  assert.deepEqual(names(`LUNE<<${'MIRABELLA<'.repeat(4)}`.slice(0, 39)), ['LUNE', 'MIRABELLA MIRABELLA MIRABELLA MIR'])
  assert.deepEqual(names('A'.repeat(39)), ['A'.repeat(39), ''])
})

test('every mark of sex is read, and a failed digit is reported', () => {
  for (const sex of ['F', 'M', 'X', '<']) assert.ok(passport('P<UTOLUNE<<MIRA', passportLine({ sex })), sex)
  const forged = passport('P<UTOLUNE<<MIRA', passportLine({}).replace('080229', '980229'))
  assert.equal(forged?.birth, undefined)
  const older = passport('P<UTOLUNE<<MIRA', passportLine({ birth: '080228' }).replace('080228', '980228'))
  assert.equal(older?.birth, '1998-02-28')
  assert.deepEqual(
    older?.checks.filter(({ holds }) => !holds).map(({ of }) => of),
    ['birth', 'composite'],
  )
})

test('optional data with its own digit is read', () => {
  const text = passport('P<UTOLUNE<<MIRA', passportLine({ optional: '4711' }))
  assert.ok(text?.checks.every(({ holds }) => holds))
})

test('a zone with an unknown code or state, a wrong shape or a nonsense expiry is not read', () => {
  assert.equal(passport('F<UTOLUNE<<MIRA'), undefined)
  assert.equal(passport('P<GNYLUNE<<MIRA'), undefined)
  assert.equal(passport('P<UTOLUNE<<MIRA', passportLine({ state: 'UTA' })), undefined)
  assert.equal(passport('P<UTOLUNE<<MIRA', passportLine({}).slice(1)), undefined)
  assert.equal(passport('P<UTOLUNE<<MIRA', passportLine({ expiry: '311301' })), undefined)
})

test('a document without an expiry does not expire', () => {
  assert.equal(passport('P<UTOLUNE<<MIRA', passportLine({ expiry: '<<<<<<' }))?.expiry, undefined)
})

test('a card with a long number has the whole number', () => {
  const lines = ['I<UTOD23145890<7349<<<<<<<<<<<', '3407127M9507122UTO<<<<<<<<<<<2', 'STEVENSON<<PETER<JOHN<<<<<<<<<']
  const text = parseMrz('TD1', lines, TODAY)
  assert.equal(text?.number, 'D23145890734')
  assert.equal(text?.kind, 'national_id')
  assert.ok(text.checks.every(({ holds }) => holds))
})

test('a German card of before 2010 and a US permanent resident card are read', () => {
  const text = parseMrz('TD2', ['IDD<<LUNE<<MIRA<<<<<<<<<<<<<<<<<<<<<', 'L5678<<<<1D<<8402299F2811179<<<<<<<0'], TODAY)
  assert.equal(text?.issuer, 'D')
  assert.equal(text.birth, '1984-02-29')
  const card = parseMrz(
    'TD1',
    ['C1USA1234567897SRC0000000001<<', '8001014F3101015UTO<<<<<<<<<<<4', 'LUNE<<MIRA<<<<<<<<<<<<<<<<<<<<'],
    TODAY,
  )
  assert.equal(card?.kind, 'residence_permit')
})

test('visas of both sizes are read as visas', () => {
  const long = ['V<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<', 'L8988901C4XXX4009078F96121096ZE184226B<<<<<<']
  const short = ['V<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<', 'L8988901C4XXX4009078F9612109<<<<<<<<']
  for (const [format, lines] of [['MRV_A', long] as const, ['MRV_B', short] as const]) {
    const text = parseMrz(format, lines, TODAY)
    assert.equal(text?.kind, 'visa')
    assert.equal(text.birth, '1940-09-07')
    assert.equal(text.expiry, '1996-12-10')
    assert.deepEqual(
      text.checks.map(({ of, holds }) => `${of} ${holds}`),
      ['number true', 'birth true', 'expiry true'],
    )
  }
})

/** A French card with every digit right. */
function frenchCard(issued: string, birth: string) {
  const first = 'IDFRALUNE'.padEnd(30, '<').padEnd(36, '0')
  const number = `${issued}92310285`.slice(0, 12)
  const second = `${number}${checkDigit(number)}${'MIRA<<ODA'.padEnd(14, '<')}${birth}${checkDigit(birth)}F`
  return parseMrz('FR_2X36', [first, second + checkDigit(first + second)], TODAY)
}

test('a French card of before 2021 is valid for fifteen years for adults, for ten otherwise', () => {
  const adult = frenchCard('1506', '900101')
  assert.equal(adult?.familyName, 'LUNE')
  assert.equal(adult.givenNames, 'MIRA ODA')
  assert.equal(adult.number, '150692310285')
  assert.equal(adult.birth, '1990-01-01')
  assert.equal(adult.expiry, '2030-05-31')
  assert.ok(adult.checks.every(({ holds }) => holds))
  assert.equal(frenchCard('1506', '970602')?.expiry, '2025-05-31')
  assert.equal(frenchCard('1506', '970601')?.expiry, '2030-05-31')
  assert.equal(frenchCard('0312', '600101')?.expiry, '2013-11-30')
  assert.equal(frenchCard('1513', '900101'), undefined)
})

test('a Spanish card of an old person that expires in the year 9999 does not expire, another one did', () => {
  const spanish = (birth: string) =>
    passport('P<ESPLUNE<<MIRA', passportLine({ state: 'ESP', birth, expiry: '990101' }))
  assert.equal(spanish('400101')?.expiry, undefined)
  assert.equal(spanish('800101')?.expiry, '1999-01-01')
})
