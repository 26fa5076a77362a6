import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MRZ_FORMATS } from '../types.ts'
import { findDocumentKind, kindOfCode } from './document-codes.ts'
import { STATE_CODES } from './states.ts'

test('each format allows its own first letters', () => {
  const firsts = Object.fromEntries(
    MRZ_FORMATS.map((format) => [
      format,
      [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].filter((letter) => kindOfCode(format, `${letter}<`) !== undefined).join(''),
    ]),
  )
  assert.deepEqual(firsts, { TD1: 'ACI', TD2: 'ACI', TD3: 'P', MRV_A: 'V', MRV_B: 'V', FR_2X36: '' })
})

test('codes stand for kinds of documents', () => {
  assert.equal(kindOfCode('TD3', 'P<'), 'passport')
  assert.equal(kindOfCode('TD3', 'PD'), 'passport')
  assert.equal(kindOfCode('TD1', 'ID'), 'national_id')
  assert.equal(kindOfCode('TD1', 'I<'), 'national_id')
  assert.equal(kindOfCode('TD1', 'IR'), 'residence_permit')
  assert.equal(kindOfCode('TD1', 'AR'), 'residence_permit')
  assert.equal(kindOfCode('TD1', 'C1'), 'residence_permit')
  assert.equal(kindOfCode('TD1', 'IP'), 'passport')
  assert.equal(kindOfCode('TD1', 'AC'), 'other')
  assert.equal(kindOfCode('MRV_B', 'VA'), 'visa')
  assert.equal(kindOfCode('FR_2X36', 'ID'), 'national_id')
})

test('codes that no document may have are refused', () => {
  for (const code of ['IV', 'T<', 'I1', '<I', '1D', 'I', 'IDX', ''])
    assert.equal(kindOfCode('TD1', code), undefined, code)
})

test('a document of every state is known, and one of an unknown state or nationality is not', () => {
  const lines = (issuer: string, nationality: string) => [
    `P<${issuer}ERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<`,
    `L898902C36${nationality}7408122F1204159ZE184226B<<<<<10`,
  ]
  for (const code of STATE_CODES) {
    const printed = code.padEnd(3, '<')
    assert.equal(findDocumentKind('TD3', lines(printed, printed)), 'passport', code)
  }
  assert.equal(findDocumentKind('TD3', lines('GNY', 'UTO')), undefined)
  assert.equal(findDocumentKind('TD3', lines('UTO', 'UT0')), undefined)
  assert.equal(findDocumentKind('TD1', lines('UTO', 'UTO')), undefined)
})
