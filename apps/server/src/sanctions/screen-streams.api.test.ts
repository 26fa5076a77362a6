/** `POST /v2/open-sanctions/file/:dataset` over real connections: chunked uploads, cut connections, callers that leave. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@ostiary/testkit/eventually'
import { figureAtMost } from '@ostiary/testkit/measuring/test-figure'
import { peopleCsv } from './datasets/testing/lists.ts'
import {
  CLOSE,
  createScreening,
  FORM_TYPE,
  form,
  HEADER,
  NOBODY,
  openPart,
  SANCTIONS_KEY,
  type Sending,
  strangers,
  urlOf,
} from './testing/screening.ts'

const MEGABYTE = 1024 * 1024

const server = await createScreening()
const port = Number(new URL(await server.app.listen({ port: 0, host: '127.0.0.1' })).port)
const key = (await server.tenantWithKey(SANCTIONS_KEY)).key

/** A raw connection, with the server's end of it. */
async function open(): Promise<{ socket: Socket; peer: Socket; answer: Promise<string>; isClosed: Promise<unknown> }> {
  const accepted = once(server.app.server, 'connection') as Promise<[Socket]>
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  const isClosed = new Promise((resolve) => socket.once('close', resolve))
  const answer = new Promise<string>((resolve) => {
    const text = () => Buffer.concat(chunks).toString()
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      if (/\r\n\r\n.*\}(\r\n0\r\n\r\n)?$/s.test(text())) resolve(text())
    })
    socket.once('close', () => resolve(text()))
  })
  // These tests expect the server to close the connection while they write.
  socket.on('error', () => {})
  const [peer] = await accepted
  return { socket, peer, answer, isClosed }
}

function headOf(sending: Sending, ...more: readonly string[]): string {
  const headers = [`host: localhost`, `x-api-key: ${sending.key ?? key}`, `content-type: ${FORM_TYPE}`, ...more]
  return `POST ${urlOf(sending)} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`
}

const chunk = (bytes: Buffer) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

/** Writes as fast as the server reads, until everything is sent or the connection is closed. */
async function pour(socket: Socket, piece: Buffer, times: number): Promise<void> {
  for (let n = 0; n < times && !socket.destroyed; n++) {
    if (socket.write(piece)) continue
    const drained = new AbortController()
    const { signal } = drained
    await Promise.race([once(socket, 'drain', { signal }), once(socket, 'close', { signal })]).catch(() => {})
    drained.abort()
  }
}

function assertTooLarge(answer: string): void {
  assert.match(answer, /^HTTP\/1\.1 413 /)
  const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as { requestId: string }
  assert.deepEqual(body, {
    statusCode: 413,
    message: 'File too large',
    code: 'FILE_TOO_LARGE',
    requestId: /x-request-id: (\S+)/.exec(answer)?.[1],
  })
  assert.match(answer, /\r\nconnection: close\r\n/i)
}

test('2 MB and a byte are refused with 413 and cut off, without reading the other 98 MB', async () => {
  for (let time = 0; time < 5; time++) {
    const { socket, peer, answer, isClosed } = await open()
    socket.write(headOf({}, 'transfer-encoding: chunked'))
    socket.write(chunk(Buffer.concat([openPart(), Buffer.from(HEADER)])))
    const rows = Buffer.from(`1,Ana,Example,1990-05-04,${'x'.repeat(200)}\n`.repeat(500))
    void pour(socket, chunk(rows), Math.ceil((100 * MEGABYTE) / rows.length))
    assertTooLarge(await answer)
    await isClosed
    assert.ok(peer.bytesRead > 2 * MEGABYTE && peer.bytesRead < 4 * MEGABYTE, `${peer.bytesRead} bytes were read`)
  }
})

test('a Content-Length of 100 MB is refused without reading the body', async () => {
  const { socket, peer, answer, isClosed } = await open()
  socket.write(headOf({}, `content-length: ${100 * MEGABYTE}`))
  assertTooLarge(await answer)
  await isClosed
  assert.ok(peer.bytesRead < 1_000)
})

test('a form without a length that never ends is cut off at any kind of error', async () => {
  const cases: [name: string, start: Buffer, sending: Sending, status: number][] = [
    ['not a CSV', openPart({ name: 'people.txt' }), {}, 400],
    ['no such column', Buffer.concat([openPart(), Buffer.from('a,b\n')]), {}, 400],
    ['no such dataset', openPart(), { dataset: 'nobody_has_this' }, 404],
    ['no such threshold', openPart(), { query: '?scoreThreshold=7' }, 400],
    ['a field instead of a file', openPart({ name: null }), {}, 413],
    ['no form', Buffer.from('x'), {}, 413],
  ]
  for (const [name, start, sending, status] of cases) {
    const { socket, peer, answer, isClosed } = await open()
    socket.write(headOf(sending, 'transfer-encoding: chunked'))
    socket.write(chunk(start))
    void pour(socket, chunk(Buffer.alloc(64_000, 'x')), 1_600)
    assert.match(await answer, new RegExp(`^HTTP/1\\.1 ${status} `), name)
    await isClosed
    assert.ok(peer.bytesRead < 5 * MEGABYTE, `${name}: ${peer.bytesRead} bytes were read`)
  }
})

test('the connection stays usable after the refusal of a short file', async () => {
  const { socket, answer } = await open()
  const bad = form({ name: 'people.txt', content: HEADER + strangers(3_000) })
  socket.write(headOf({}, `content-length: ${bad.length}`))
  socket.write(bad)
  assert.match(await answer, /^HTTP\/1\.1 400 .*Only CSV files are allowed!/s)
  const good = form({ content: HEADER + NOBODY })
  let more = ''
  socket.on('data', (bytes) => {
    more += bytes
  })
  socket.write(headOf({}, `content-length: ${good.length}`, 'connection: close'))
  socket.write(good)
  await once(socket, 'close')
  assert.match(more, /^HTTP\/1\.1 200 .*"total":1/s)
})

test('a form is read in chunks of any size, and bytes after its end are ignored', async () => {
  const whole = form({ field: 'note', name: null, content: 'x' }, { content: `${HEADER}7,Vardo,Quellmar,1961-04-17\n` })
  const { socket, peer, answer } = await open()
  socket.setNoDelay(true)
  socket.write(headOf({}, 'transfer-encoding: chunked'))
  for (let at = 0; at < whole.length; at += 7) {
    socket.write(chunk(whole.subarray(at, at + 7)))
    if (at % 70 === 0) await eventually(() => peer.bytesRead === socket.bytesWritten, 'the piece is read')
  }
  await eventually(() => peer.bytesRead === socket.bytesWritten, 'the form is read')
  socket.write(chunk(Buffer.alloc(100_000, 'x')))
  socket.write('0\r\n\r\n')
  const text = await answer
  assert.match(text, /^HTTP\/1\.1 200 /)
  assert.match(text, /"entityId":"demo-01"/)
  socket.destroy()
})

test('a caller who disconnects stops the work and frees the slot for other files', async () => {
  await server.importCsv('long_list', peopleCsv(2_000))
  const sending = { dataset: 'long_list', query: '?scoreThreshold=0.4', key }
  const names = peopleCsv(2_000).trimEnd().split('\n').slice(1)
  const rows = names.map((row) => row.replace(/^(\S+?),(\S+) (.*),/, '$1,$2,$3,'))
  const body = form({ content: `${HEADER}${Array.from({ length: 20 }, () => rows.join('\n')).join('\n')}\n` })
  assert.ok(body.length < 2 * MEGABYTE)
  const small = `${HEADER}${rows[0]}\n`
  assert.equal((await server.screen(small, sending)).summary.total, 1)

  const files = () => /files_total\{result="matched"\} (\d+)/.exec(metricsText)?.[1]
  let metricsText = ''
  const cpuMs = async (waitMs: number) => {
    const start = process.cpuUsage()
    await sleep(waitMs)
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1_000
  }
  const gone: Socket[] = []
  for (let n = 0; n < 2; n++) {
    const { socket, peer } = await open()
    socket.write(headOf(sending, `content-length: ${body.length}`))
    socket.write(body)
    gone.push(socket)
    await eventually(() => peer.bytesRead === socket.bytesWritten, 'the file is read')
  }
  const tryAnother = async () => (await server.send(small, sending)).json()
  await eventually(async () => (await tryAnother()).code === 'TOO_MANY_FILES', 'both files are under way')
  metricsText = await server.wire.platform.metrics.text()
  const before = files()
  const busy = await cpuMs(1_000)
  for (const socket of gone) socket.destroy()
  await eventually(async () => (await tryAnother()).summary?.total === 1, 'there is room for another file')
  await figureAtMost('screening.cpu-after-leaving', 0.25, async () => {
    // A thread finishes its current chunk of 250 rows.
    let idle = await cpuMs(1_000)
    for (let tries = 0; tries < 8 && idle > busy / 4; tries++) idle = await cpuMs(1_000)
    return idle / busy
  })
  metricsText = await server.wire.platform.metrics.text()
  assert.equal(files(), String(Number(before) + 1), 'an abandoned file is not counted as screened')
  assert.equal((await server.screen(small, sending)).summary.total, 1)
  assert.ok(!server.logged().includes('"request failed"'), 'that someone leaves is no fault of ours')
})

test('a caller who disconnects during the upload frees the slot for other files', async () => {
  const { key: other } = await server.tenantWithKey(SANCTIONS_KEY)
  for (let n = 0; n < 4; n++) {
    const { socket, peer } = await open()
    socket.write(headOf({ key: other }, 'content-length: 500000'))
    socket.write(Buffer.concat([openPart(), Buffer.from(HEADER + NOBODY)]))
    await eventually(() => peer.bytesRead === socket.bytesWritten, 'the beginning is read')
    // A whole file that comes later is answered: by then the service has begun with this one.
    assert.equal((await server.screen(HEADER + NOBODY, { key: other })).summary.total, 1)
    const isGone = once(peer, 'close')
    socket.destroy()
    await isGone
  }
  assert.equal((await server.screen(HEADER + NOBODY, { key: other })).summary.total, 1)
  const { socket, answer } = await open()
  socket.end(Buffer.concat([Buffer.from(headOf({ key: other }, 'content-length: 500000')), openPart(), CLOSE]))
  assert.match(await answer, /^(HTTP\/1\.1 400 |$)/)
  assert.equal((await server.screen(HEADER + NOBODY, { key: other })).summary.total, 1)
})
