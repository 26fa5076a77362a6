import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from './errors.ts'
import { memberTextOf, parseJsonBody } from './json-body.ts'

const parse = (text: string) => parseJsonBody(Buffer.from(text))
const isInvalidJson = (error: unknown) => error instanceof AppError && error.code === 'INVALID_JSON'

test('JSON is parsed unchanged', () => {
  for (const value of [
    {},
    [],
    'x',
    0,
    -0.5,
    null,
    true,
    { a: [{ b: 'c' }] },
    { 'brackets in text': '[[[[{{{{"\\' },
    { constructor: 'a word' },
    '😀',
  ]) {
    assert.deepEqual(parse(JSON.stringify(value)), value)
  }
})

test('32 levels are accepted, 33 are not, and a million are refused as fast', () => {
  assert.ok(parse('['.repeat(32) + ']'.repeat(32)))
  for (const depth of [33, 1_000_000]) {
    assert.throws(() => parse('['.repeat(depth) + ']'.repeat(depth)), isInvalidJson)
    assert.throws(() => parse('{"a":'.repeat(depth)), isInvalidJson)
  }
})

test('brackets inside of strings do not count, even after escaped quotes', () => {
  assert.deepEqual(parse(`{"a":"\\"${'['.repeat(100)}\\\\"}`), { a: `"${'['.repeat(100)}\\` })
})

test('keys that reach into prototypes are refused, however they are written', () => {
  for (const text of [
    '{"__proto__":1}',
    '{"a":[{"__proto__":{}}]}',
    '{"\\u005f_proto__":1}',
    '{"_\\u005fproto__":1}',
    '{"__prot\\u006f__":{}}',
    '{"constr\\u0075ctor":{"prototype":1}}',
    '{"constructor":{"prototype":{}}}',
  ]) {
    assert.throws(() => parse(text), isInvalidJson, text)
  }
})

test('text that cannot be stored is refused; whole surrogate pairs are fine', () => {
  for (const text of ['"\\u0000"', '"\\ud83d"', '"\\ude00\\ud83d"', '{"\\u0000":1}', '[["a\\u0000"]]'])
    assert.throws(() => parse(text), isInvalidJson, text)
  assert.equal(parse('"\\ud83d\\ude00"'), '😀')
  assert.equal(parse('"\\\\u0000"'), '\\u0000')
})

test('a text that is not JSON is refused', () => {
  for (const text of ['', ' ', '{', '{"a":1,}', 'undefined', "{'a':1}", '{"a":1}{"a":2}', '\ufeff{}', 'NaN'])
    assert.throws(() => parse(text), isInvalidJson, text)
  for (const bytes of [[0xff], [0x22, 0xc3, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22], [0x22, 0xf0, 0x9f, 0x98, 0x22]]) {
    assert.throws(() => parseJsonBody(Uint8Array.from(bytes)), isInvalidJson)
  }
})

test('numbers that no double can hold are refused, others are not', () => {
  for (const text of ['1e400', '[{"a":-1E+999}]']) assert.throws(() => parse(text), isInvalidJson, text)
  assert.deepEqual(parse('[1e300, 1.5e-400, 123]'), [1e300, 0, 123])
})

test('the text of a member is returned as it was sent', () => {
  const text = (json: string) => {
    parse(json)
    return memberTextOf(Buffer.from(json), 'm')
  }
  for (const member of [
    '{"b":12345678901234567890,"2":"x","1":"y","f":1.10}',
    '{ "a" : [1, {"m":2}] }',
    '"x\\"},"',
    '1.10',
    '[]',
  ])
    for (const json of [
      `{"m":${member}}`,
      ` { "m" : ${member}\n} `,
      `{"a":{"m":1},"b":"\\"m\\":1,","m":${member},"c":["m",{"m":0}]}`,
      `{"m":0,"\\u006d":${member}}`,
      `{"é":"😀","m":\t${member} ,"n":"m"}`,
    ])
      assert.equal(text(json), member, json)
})

test('a missing member gives undefined', () => {
  for (const json of ['{}', '{"a":{"m":1}}', '[{"m":1}]', '"m"', '{"M":1}', '{"a":"m"}', '["m",1]'])
    assert.equal(memberTextOf(Buffer.from(json), 'm'), undefined, json)
})
