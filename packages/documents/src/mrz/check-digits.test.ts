import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MrzFormat } from '../types.ts'
import { checkDigit, digitChecks, numberWithDigit } from './check-digits.ts'
import { fitsLayout } from './layout.ts'

/** The specimens of ICAO 9303 parts 4 to 7 and of the French card. */
const SPECIMENS: Readonly<Record<MrzFormat, readonly string[]>> = {
  TD1: ['I<UTOD231458907<<<<<<<<<<<<<<<', '7408122F1204159UTO<<<<<<<<<<<6', 'ERIKSSON<<ANNA<MARIA<<<<<<<<<<'],
  TD2: ['I<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<', 'D231458907UTO7408122F1204159<<<<<<<6'],
  TD3: ['P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<', 'L898902C36UTO7408122F1204159ZE184226B<<<<<10'],
  MRV_A: ['V<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<', 'L8988901C4XXX4009078F96121096ZE184226B<<<<<<'],
  MRV_B: ['V<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<', 'L8988901C4XXX4009078F9612109<<<<<<<<'],
  FR_2X36: ['IDFRABERTHIER<<<<<<<<<<<<<<<<<<<<<<<', '8806923102858CORINNE<<<<<<<6512068F6'],
}

test('the check digit of a date is that of the example in ICAO 9303 part 3', () => {
  assert.equal(checkDigit('520727'), '3')
  assert.equal(checkDigit('AB2134<<<'), '5')
  assert.equal(checkDigit('<<<<<<'), '0')
})

for (const [name, lines] of Object.entries(SPECIMENS)) {
  const format = name as MrzFormat
  test(`every check digit of the specimen of ${format} holds`, () => {
    assert.ok(fitsLayout(format, lines))
    for (const check of digitChecks(format, lines)) assert.ok(check.holds, check.of)
  })
}

test('a changed character is seen by the check digit that covers it and by the composite', () => {
  const [first = '', second = ''] = SPECIMENS.TD3
  const changed = digitChecks('TD3', [first, second.replace('740812', '740813')])
  assert.deepEqual(
    changed.filter(({ holds }) => !holds).map(({ of }) => of),
    ['birth', 'composite'],
  )
})

test('a number of more than nine characters goes on in the optional data of a card', () => {
  const lines = ['I<UTOD23145890<7349<<<<<<<<<<<', '3407127M9507122UTO<<<<<<<<<<<2', 'STEVENSON<<PETER<JOHN<<<<<<<<<']
  assert.deepEqual(numberWithDigit('TD1', lines), { number: 'D23145890734', digit: '9' })
  assert.ok(digitChecks('TD1', lines).every(({ holds }) => holds))
  const changed = lines.map((line) => line.replace('<7349', '<7439'))
  assert.deepEqual(digitChecks('TD1', changed)[0], { of: 'number', holds: false })
})

test('a filler instead of the digit of a number fails where no long number follows', () => {
  const lines = ['I<UTOD23145890<<<<<<<<<<<<<<<<', '7408122F1204159UTO<<<<<<<<<<<6', 'ERIKSSON<<ANNA<MARIA<<<<<<<<<<']
  assert.deepEqual(digitChecks('TD1', lines)[0], { of: 'number', holds: false })
})

test('empty optional data of a passport has the digit 0 or a filler, other data needs its digit', () => {
  const line = (optional: string, digit: string) => {
    const start = `L898902C36UTO7408122F1204159${optional}${digit}`
    return start + checkDigit(start.slice(0, 10) + start.slice(13, 20) + start.slice(21))
  }
  const holds = (second: string) =>
    digitChecks('TD3', [SPECIMENS.TD3[0] ?? '', second]).find(({ of }) => of === 'optional')?.holds
  assert.equal(holds(line('<'.repeat(14), '<')), true)
  assert.equal(holds(line('<'.repeat(14), '0')), true)
  assert.equal(holds(line('<'.repeat(14), '1')), false)
  assert.equal(holds(line('ZE184226B<<<<<', '<')), false)
})
