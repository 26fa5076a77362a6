import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { SANCTIONS_LIMITS } from '@ostiary/contract'
import type { AppError } from '../platform/errors.ts'
import { readUpload } from './upload.ts'

const CHUNK_BYTES = 65_536
const BROKEN = [400, 'BAD_REQUEST', 'The form cannot be read']

/** Sends a form in chunks. Tells the answer, and how many chunks were read before it. */
async function send(form: string): Promise<{ answer: unknown; chunksRead: number }> {
  const bytes = Buffer.from(form)
  let chunksRead = 0
  function* chunks() {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      chunksRead++
      yield bytes.subarray(at, at + CHUNK_BYTES)
    }
  }
  const body = Readable.from(chunks(), { highWaterMark: 1 })
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  const answer = await readUpload({ headers, body }).then(
    (people) => people.length,
    ({ status, code, message }: AppError) => [status, code, message],
  )
  return { answer, chunksRead }
}

const FILE =
  '--b\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n' +
  'id,firstname,lastname,dob\n1,Ana,Example,\n\r\n'
const FIELD = '--b\r\ncontent-disposition: form-data; name="note"\r\n\r\nx\r\n'

test('a form of 25 parts is read', async () => {
  assert.deepEqual(await send(`${FIELD.repeat(24)}${FILE}--b--\r\n`), { answer: 1, chunksRead: 1 })
})

test('the 26th part is refused without reading the rest of the form', async () => {
  const parts = {
    'nothing but boundaries': '\r\n--b',
    'parts without headers': '\r\n--b\r\n\r\n',
    'parts with a header': '\r\n--b\r\nA: b\r\n\r\n',
    fields: `\r\n${FIELD}`,
  }
  for (const [name, part] of Object.entries(parts)) {
    const times = Math.floor((SANCTIONS_LIMITS.multipartBytes - 20) / part.length)
    const { answer, chunksRead } = await send(`--b${part.repeat(times)}\r\n--b--\r\n`)
    assert.deepEqual(answer, BROKEN, name)
    // The stream reads one chunk ahead of its reader.
    assert.ok(chunksRead <= 2, `${name}: ${chunksRead} chunks were read`)
  }
})

// The parser throws this error outside of every call, which would end the process. A test that it happens in fails.
test('a form that is cut off after too many parts is refused', async () => {
  const { answer } = await send('--b\r\n\r\n\r\n'.repeat(30))
  assert.deepEqual(answer, BROKEN)
})
