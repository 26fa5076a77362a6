import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { MrzRead, Picture } from '@ostiary/documents'
import { acceptReads } from '@ostiary/documents'
import type { WantedDocument } from './reader.ts'
import { connectReader } from './reader-client.ts'
import { serveReader } from './reader-host.ts'
import type { ReadingTools } from './reading.ts'

const PICTURE: Picture = { width: 64, height: 64, data: new Uint8ClampedArray(64 * 64 * 4).fill(90) }
const TOOLS: ReadingTools = {
  identity: { id: 'mrz-1', hash: 'A'.repeat(43) },
  readMrz: () => undefined,
  acceptReads,
  lookForZone: () => undefined,
  findBarcode: async () => undefined,
  hintsOf: () => [],
  isPasted: () => false,
}
const WANTED: WantedDocument = {
  choice: 'passport',
  today: '2026-01-01',
  acceptedTypes: ['passport'],
  expiryGraceDays: 0,
  age: null,
}

function connect(t: TestContext, tools: Partial<ReadingTools> = {}, failures = 0) {
  const { port1, port2 } = new MessageChannel()
  let left = failures
  serveReader({
    port: port2,
    async load(_choice, report) {
      if (left-- > 0) throw new Error('no network')
      report.progress({ loadedBytes: 1, totalBytes: 2 })
      return { ...TOOLS, ...tools }
    },
    pixelsOf: () => PICTURE,
  })
  const client = connectReader({ port: port1, onRequest: () => {}, onClose: () => port2.close() })
  t.after(() => client.close())
  return { client }
}

/** Node has no ImageBitmap: a buffer travels in its place, and the worker cannot close it. */
const bitmap = () => Object.assign(new ArrayBuffer(8)) as unknown as ImageBitmap

test('the reader is loaded with progress, and after a failure again', async (t) => {
  const { client } = connect(t, {}, 1)
  const progress: unknown[] = []
  await assert.rejects(
    client.load('passport', () => {}),
    /failed/,
  )
  await client.load('passport', (report) => void progress.push(report))
  assert.deepEqual(progress, [{ loadedBytes: 1, totalBytes: 2 }])
})

test('the worker judges the portrait by the place of its face', async (t) => {
  const face = { centre: { x: 30, y: 30 }, width: 20, height: 24, angle: 0.1 }
  const read: MrzRead = {
    format: 'TD3',
    lines: [],
    confidence: 0.9,
    leastConfidence: 0.9,
    leastUnchecked: 0.9,
    isSteady: true,
    corners: [
      { x: 5, y: 50 },
      { x: 60, y: 50 },
      { x: 60, y: 60 },
      { x: 5, y: 60 },
    ],
    pixelsPerCharacter: 20,
  }
  const { client } = connect(t, { readMrz: () => read, isPasted: (_, { angle }) => angle === face.angle })
  await client.load('passport', () => {})
  await client.begin(WANTED)
  assert.equal(await client.isPasted(face), false)
  assert.ok((await client.look(bitmap(), 'page')).portrait)
  assert.equal(await client.isPasted(face), true)
})

test('an error in the worker does not quote a document', async (t) => {
  const secret = 'LARKFIELD'
  const { client } = connect(t, {
    readMrz() {
      throw new Error(`cannot parse ${secret}`)
    },
  })
  await client.load('passport', () => {})
  await client.begin(WANTED)
  await assert.rejects(client.look(bitmap(), 'page'), (error: Error) => !error.message.includes(secret))
})

test('nothing is read before it is loaded, and nothing is asked of a closed reader', async (t) => {
  const { client } = connect(t)
  await assert.rejects(client.begin(WANTED), /failed/)
  client.close()
  await assert.rejects(client.begin(WANTED), /closed/)
})

test('a worker that breaks rejects what waits', async (t) => {
  const { client } = connect(t, { readMrz: () => undefined })
  const waiting = assert.rejects(
    client.load('passport', () => {}),
    /broken/,
  )
  client.fail()
  await waiting
})
