import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AnswerReader, type Progress } from './answer-reader.ts'
import { OutboundError } from './errors.ts'

const BODY_MAX = 16

/** What a reader makes of these bytes: whole, and in pieces of every size. */
function readAll(text: string): { progress: Progress; status: number | undefined } | string {
  const whole = readIn(text, text.length)
  for (let size = 1; size < text.length; size++) assert.deepEqual(readIn(text, size), whole, `pieces of ${size}`)
  return whole
}

function readIn(text: string, size: number): { progress: Progress; status: number | undefined } | string {
  const reader = new AnswerReader(BODY_MAX)
  const bytes = Buffer.from(text, 'latin1')
  let progress: Progress = 'more'
  try {
    // Bytes that arrive when the connection should have been closed are not read.
    for (let at = 0; at < bytes.length && progress !== 'close'; at += size) {
      // Bytes after the end belong to no request: the connection is closed, see connection.ts.
      if (progress === 'kept') progress = 'close'
      else progress = reader.read(Buffer.from(bytes.subarray(at, at + size)), Math.min(size, bytes.length - at))
    }
  } catch (error) {
    assert.ok(error instanceof OutboundError)
    return error.reason
  }
  return { progress, status: reader.answer?.status }
}

const kept = (status: number) => ({ progress: 'kept', status }) as const
const closed = (status: number) => ({ progress: 'close', status }) as const
const INCOMPLETE = { progress: 'more', status: undefined } as const

describe('an answer', () => {
  test('with a body of stated length, without one, or chunked leaves the connection usable', () => {
    for (const [text, expected] of [
      ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}', kept(200)],
      ['HTTP/1.1 200\r\nContent-Length:0\r\n\r\n', kept(200)],
      ['HTTP/1.1 503 \xe9\r\nx-a:\r\ncontent-length: 16 \r\n\r\n0123456789abcdef', kept(503)],
      ['HTTP/1.1 204 No Content\r\n\r\n', kept(204)],
      ['HTTP/1.1 304 Not Modified\r\ncontent-length: 900\r\n\r\n', kept(304)],
      ['HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n', kept(202)],
      [
        'HTTP/1.1 202 Accepted\r\nTransfer-Encoding: Chunked\r\n\r\n4\r\ndone\r\n00A\r\n0123456789\r\n0\r\n\r\n',
        kept(202),
      ],
    ] as const)
      assert.deepEqual(readAll(text), expected, text)
  })

  test('of any other form ends the connection, and its status counts', () => {
    for (const text of [
      'HTTP/1.1 200 OK\r\n\r\n',
      'HTTP/1.1 200 OK\r\nconnection: Close\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.1 200 OK\r\nconnection: x, close\r\ntransfer-encoding: chunked\r\n\r\n',
      'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: 17\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: 999999999999999\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nabc',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n',
      ...[
        '11\r\n',
        '8\r\n01234567\r\n9\r\n',
        'g',
        '\r\n',
        '-1\r\n',
        '000000001\r\n',
        '1;a=b\r\n',
        '1\n',
        '1\r\nab',
        '0\r\nx: y\r\n\r\n',
        '0\r\n\r\nHTTP',
      ].map((chunks) => `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`),
    ])
      assert.deepEqual(readAll(text), closed(200), JSON.stringify(text))
    assert.deepEqual(readAll('HTTP/1.1 204 No Content\r\n\r\nabc'), closed(204))
  })

  test('is preceded by interim answers, which are skipped', () => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\ncontent-length: 5\r\n\r\n'
    assert.deepEqual(readAll(interim), INCOMPLETE)
    assert.deepEqual(readAll(`${interim}HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n`), kept(201))
    assert.equal(readIn('HTTP/1.1 102 Processing\r\n\r\n'.repeat(700), 27), 'too_large', 'but not for ever')
  })

  test('that is incomplete is waited for', () => {
    for (const text of ['H', 'HTTP/1.', 'HTTP/1.1 200 OK', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n'])
      assert.deepEqual(readAll(text), INCOMPLETE, text)
    assert.deepEqual(readAll('HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nab'), { progress: 'more', status: 200 })
    const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
    for (const part of ['', '1', '1\r', '1\r\n', '1\r\na', '1\r\na\r\n', '1\r\na\r\n0\r\n', '1\r\na\r\n0\r\n\r'])
      assert.deepEqual(readAll(chunked + part), { progress: 'more', status: 200 }, part)
  })
})

describe('what is not an answer', () => {
  test('is refused: nothing that cannot be read in one way only counts as delivered', () => {
    const field = (line: string) => `HTTP/1.1 200 OK\r\n${line}\r\n\r\n`
    for (const text of [
      'SSH-2.0-x\r\n',
      'HTTP/2.0 200 OK\r\n\r\n',
      '\r\nHTTP/1.1 200 OK\r\n\r\n',
      'HTTP/1.1  200 OK\r\n\r\n',
      'HTTP/1.1 2000 OK\r\n\r\n',
      'HTTP/1.1 099 OK\r\n\r\n',
      'HTTP/1.1 20 OK\r\n\r\n',
      'HTTP/1.1 200 O\0K\r\n\r\n',
      'HTTP/1.1 200 OK\nx: y\r\n\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n',
      field('no colon'),
      field(': no name'),
      field('a space : x'),
      field(' folded: x'),
      field('x-a: b\rc'),
      field('x-a: b\nc: d'),
      field('x-a: \0'),
      field('content-length: 1\r\ncontent-length: 1'),
      field('content-length: 1\r\ntransfer-encoding: chunked'),
      ...['', '+1', '-1', '0x1', '1.0', '1 1', '1,1', '1e3', '9999999999999999'].map((value) =>
        field(`content-length: ${value}`),
      ),
    ])
      assert.equal(readAll(text), 'refused', JSON.stringify(text))
  })

  test('headers of more than 16 KB are too large, complete or not', () => {
    const head = (bytes: number) => `HTTP/1.1 204 No Content\r\nx-a: ${'v'.repeat(bytes - 34)}\r\n\r\n`
    assert.equal(head(16_384).length, 16_384)
    for (const size of [1_000, 16_384, 40_000]) {
      assert.deepEqual(readIn(head(16_384), size), kept(204))
      assert.equal(readIn(head(16_385), size), 'too_large')
      assert.equal(readIn(head(30_000).slice(0, 20_000), size), 'too_large')
    }
  })
})

describe('of the headers', () => {
  const reader = new AnswerReader(BODY_MAX)
  const headOf = (fields: string) => {
    const bytes = Buffer.from(`HTTP/1.1 429 Slow\r\n${fields}content-length: 0\r\n\r\n`)
    reader.reset()
    reader.read(bytes, bytes.length)
    return { retryAfter: reader.answer?.retryAfter, keptMs: reader.keptMs }
  }

  test('one Retry-After is returned, and how long the connection is kept', () => {
    assert.deepEqual(headOf(''), { retryAfter: undefined, keptMs: undefined })
    assert.deepEqual(headOf('Retry-After:  17 \r\nKeep-Alive: timeout=5, max=100\r\n'), {
      retryAfter: '17',
      keptMs: 5_000,
    })
    for (const times of [2, 3])
      assert.deepEqual(headOf('retry-after: 17\r\n'.repeat(times)), { retryAfter: undefined, keptMs: undefined })
  })
})
