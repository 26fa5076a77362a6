import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestBytes, requestStart } from './request-bytes.ts'

const START = requestStart(new URL('https://hook.example:8443/a?b=c#d'))
const bytesOf = (...headers: string[]) => requestBytes(START, headers, Buffer.from('{}')).toString('latin1')

test('a request is one buffer: the line, our headers, the caller’s, and the body', () => {
  assert.equal(
    bytesOf('x-a', 'b\xe9\t c'),
    'POST /a?b=c HTTP/1.1\r\nhost: hook.example:8443\r\nconnection: keep-alive\r\nx-a: b\xe9\t c\r\ncontent-length: 2\r\n\r\n{}',
  )
})

test('headers that could end a line or the request are refused', () => {
  for (const value of ['a\r\nx: y', 'a\n', '\r', '\0', '\x7f', 'ā'])
    assert.throws(() => bytesOf('x-a', value), TypeError, JSON.stringify(value))
  for (const name of ['', 'a b', 'a:', 'a\r\nb', 'ä', ' a'])
    assert.throws(() => bytesOf(name, 'x', 'x-b', 'y'), TypeError, JSON.stringify(name))
  for (const name of [
    'Host',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'expect',
    'upgrade',
    'te',
    'trailer',
  ])
    assert.throws(() => bytesOf(name, 'x'), TypeError, name)
})
