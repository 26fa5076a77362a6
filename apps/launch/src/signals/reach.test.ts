import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, call, flag, has, list, number, ownNames, text, tryCall } from './reach.ts'

const refusing = {
  get secret(): never {
    throw new TypeError('Illegal invocation')
  },
  fail(): never {
    throw new Error('no')
  },
}

test('a path is followed to its end, and gives undefined if a property is missing or throws', () => {
  assert.equal(at({ a: { b: 3 } }, 'a', 'b'), 3)
  assert.equal(
    at(() => 0, 'length'),
    0,
  )
  for (const start of [undefined, null, 'text', 7, {}, { a: null }, refusing]) {
    assert.equal(at(start, 'a', 'secret'), undefined)
    assert.equal(at(start, 'secret'), undefined)
  }
})

test('a method is called on its object, and a missing method is not called', () => {
  const counter = {
    count: 2,
    add(by: number) {
      return this.count + by
    },
  }
  assert.equal(call(counter, 'add', 3), 5)
  assert.equal(call(counter, 'count'), undefined)
  assert.equal(call(undefined, 'add'), undefined)
  assert.throws(() => call(refusing, 'fail'))
  assert.equal(tryCall(refusing, 'fail'), undefined)
})

test('a value of another type than expected gives undefined', () => {
  assert.deepEqual(
    [text('a'), text(1), number(1), number('1'), number(Number.NaN)],
    ['a', undefined, 1, undefined, undefined],
  )
  assert.deepEqual([flag(false), flag('false')], [false, undefined])
})

test('an array-like object is read as an array, up to a limit', () => {
  assert.deepEqual(list(['a', 'b']), ['a', 'b'])
  assert.deepEqual(list({ length: 2, 0: 'a', 1: 'b' }), ['a', 'b'])
  assert.equal(list('ab'), undefined)
  assert.equal(list({}), undefined)
  assert.equal(list({ length: 1e9 })?.length, 100)
})

test('names are the object’s own properties, including non-enumerable ones', () => {
  const object = Object.create({ inherited: 1 }, { hidden: { value: 1, enumerable: false } })
  assert.deepEqual(ownNames(object), ['hidden'])
  assert.ok(has(object, 'inherited') && !has(object, 'other') && !has(null, 'x'))
  const fail = () => {
    throw new Error('no')
  }
  const closed = new Proxy({}, { ownKeys: fail, has: fail })
  assert.deepEqual(ownNames(closed), [])
  assert.equal(has(closed, 'x'), false)
})
