/** Tests the page's side and the worker's side of the engine, connected by a real MessageChannel. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Picture, PortraitSighting } from '@ostiary/faces'
import type { NotedRequest } from '../ledger/ledger.ts'
import { EngineLoadError } from './engine.ts'
import { connectEngine } from './engine-client.ts'
import { type EngineHostOptions, RuntimeBrokenError, type StartedFaces, serveEngine } from './engine-host.ts'

const PICTURE: Picture = { width: 2, height: 1, data: new Uint8ClampedArray(8) }
const JPEG = Uint8Array.of(0xff, 0xd8)
const FACES: StartedFaces = {
  id: 'faces-1',
  hash: 'h',
  threads: 1,
  lookMs: 40,
  loadRest: async () => {},
  warmNext: async () => false,
  warmUp: async () => {},
  engine: {
    look: async ({ width }) => ({ faces: width, face: null }),
    measure: async () => null,
    embed: async () => Float32Array.of(1, 2),
    keepFace: () => {},
    findPortrait: async () => ({ is: 'none' }),
    comparePortrait: () => undefined,
    forgetComparison: () => {},
    begin: () => {},
  },
}

/** A stand-in for a bitmap: it can be sent through a channel and closed. */
const bitmap = () => new MessageChannel().port1 as unknown as ImageBitmap

function joined(host: Partial<EngineHostOptions> = {}) {
  const { port1, port2 } = new MessageChannel()
  const requests: NotedRequest[] = []
  serveEngine({
    port: port2,
    survey: async () => {},
    start: async () => FACES,
    pixelsOf: () => PICTURE,
    jpegOf: async () => JPEG,
    ...host,
  })
  const client = connectEngine({ port: port1, onRequest: (one) => requests.push(one), onClose: () => port2.close() })
  return { client, requests }
}

test('every question gets its answer', async () => {
  const { client } = joined()
  assert.deepEqual(await client.load(() => {}), { id: 'faces-1', hash: 'h', threads: 1, lookMs: 40 })
  await client.begin()
  assert.deepEqual(await client.look(bitmap()), { faces: 2, face: null })
  assert.equal(await client.measure(bitmap()), null)
  assert.deepEqual(await client.embed('FACE3_3'), Float32Array.of(1, 2))
  client.close()
})

test('loading reports its progress and its network requests', async () => {
  const request = { method: 'GET', url: 'https://check.example/x', bytesOut: 0 }
  const { client, requests } = joined({
    async start(report) {
      report.progress({ loadedBytes: 5, totalBytes: 9 })
      report.request(request)
      return FACES
    },
  })
  const progress: number[] = []
  await client.load(({ loadedBytes }) => progress.push(loadedBytes))
  assert.deepEqual(progress, [5])
  assert.deepEqual(requests, [request])
  client.close()
})

test('the worker does one thing at a time', async () => {
  let running = 0
  let most = 0
  const look = async () => {
    running += 1
    most = Math.max(most, running)
    await new Promise((resolve) => setTimeout(resolve, 5))
    running -= 1
    return { faces: 0, face: null }
  }
  const { client } = joined({ start: async () => ({ ...FACES, engine: { ...FACES.engine, look } }) })
  await client.load(() => {})
  await Promise.all([client.look(bitmap()), client.look(bitmap()), client.look(bitmap())])
  assert.equal(most, 1)
  client.close()
})

test('the error names the file that failed to load, and loading can be tried again', async () => {
  let tries = 0
  const { client } = joined({
    async start() {
      tries += 1
      if (tries === 1) throw new EngineLoadError('models/a.onnx', new Error('The answer was 503'))
      return FACES
    },
  })
  await assert.rejects(
    client.load(() => {}),
    (error) => error instanceof EngineLoadError && error.file === 'models/a.onnx' && /503/.test(String(error.cause)),
  )
  assert.equal(client.broken, false)
  await client.load(() => {})
  client.close()
})

test('a runtime that does not run breaks the worker for good', async () => {
  const { client } = joined({ start: () => Promise.reject(new RuntimeBrokenError('models/a.onnx', 'no simd')) })
  await assert.rejects(
    client.load(() => {}),
    EngineLoadError,
  )
  assert.equal(client.broken, true)
  await assert.rejects(client.look(bitmap()), EngineLoadError)
  client.close()
})

test('an error in one look does not affect the next', async () => {
  let looks = 0
  const look = async () => {
    looks += 1
    if (looks === 1) throw new Error('odd picture')
    return { faces: 1, face: null }
  }
  const { client } = joined({ start: async () => ({ ...FACES, engine: { ...FACES.engine, look } }) })
  await client.load(() => {})
  await assert.rejects(client.look(bitmap()), /odd picture/)
  assert.deepEqual(await client.look(bitmap()), { faces: 1, face: null })
  client.close()
})

test('when the worker dies, every pending call fails', async () => {
  const { client } = joined({ start: () => new Promise(() => {}) })
  const loading = client.load(() => {})
  client.fail(new Error('out of memory'))
  await assert.rejects(loading, /out of memory/)
  await assert.rejects(client.begin(), /out of memory/)
  client.close()
})

test('looking fails before loading', async () => {
  const { client } = joined()
  await assert.rejects(client.look(bitmap()), /Nothing is loaded/)
  client.close()
})

test('the best picture is kept only on request, returned once, and forgotten at the next capture', async () => {
  const scores = [0.4, 0.9, 0.9, 0.6]
  const widths = [1, 2, 3, 4]
  const measured = (score: number) => ({ face: { quality: { score } } }) as Awaited<ReturnType<typeof measure>>
  const measure: StartedFaces['engine']['measure'] = async () => measured(scores.shift() ?? 0)
  const { client } = joined({
    start: async () => ({ ...FACES, engine: { ...FACES.engine, measure } }),
    pixelsOf: () => ({ ...PICTURE, width: widths.shift() ?? 0 }),
    jpegOf: async ({ width }) => Uint8Array.of(width),
  })
  await client.load(() => {})
  await client.begin({ ages: true, selfie: true })
  for (let n = 0; n < 3; n++) await client.measure(bitmap())
  assert.deepEqual(await client.selfie(), Uint8Array.of(2))
  await assert.rejects(client.selfie(), /No picture/)
  await client.begin()
  await client.measure(bitmap())
  await assert.rejects(client.selfie(), /No picture/)
  client.close()
})

test('a portrait is compared inside the worker: the areas go in, a sighting and a score come out', async () => {
  const asked: unknown[] = []
  const area = { centre: { x: 1, y: 0 }, width: 2, height: 1, angle: 0, faceWidthMin: 60 }
  const sighting: PortraitSighting = { is: 'found', face: { centre: { x: 1, y: 1 }, width: 80, height: 90, angle: 0 } }
  let score: number | undefined
  const engine: StartedFaces['engine'] = {
    ...FACES.engine,
    keepFace: () => void asked.push('keep'),
    async findPortrait(picture, areas) {
      asked.push([picture, areas])
      score = 0.61
      return sighting
    },
    comparePortrait: () => score,
    forgetComparison: () => {
      score = undefined
    },
  }
  const { client } = joined({ start: async () => ({ ...FACES, engine }) })
  await client.load(() => {})
  await client.keepFace()
  assert.equal(await client.comparePortrait(), undefined)
  assert.deepEqual(await client.findPortrait(bitmap(), [area]), sighting)
  assert.deepEqual(asked, ['keep', [PICTURE, [area]]])
  assert.equal(await client.comparePortrait(), 0.61)
  await client.forgetComparison()
  assert.equal(await client.comparePortrait(), undefined)
  client.close()
})

test('without a sample there is no face to keep, and the page learns that', async () => {
  const keepFace = () => {
    throw new Error('Nothing was measured')
  }
  const { client } = joined({ start: async () => ({ ...FACES, engine: { ...FACES.engine, keepFace } }) })
  await client.load(() => {})
  await assert.rejects(client.keepFace(), /Nothing was measured/)
  assert.equal(await client.comparePortrait(), undefined)
  client.close()
})

test('the engine gets the wanted outputs, and none after the last capture', async () => {
  const begun: unknown[] = []
  const engine = { ...FACES.engine, begin: (outputs: unknown) => void begun.push(outputs) }
  const { client } = joined({ start: async () => ({ ...FACES, engine }) })
  await client.load(() => {})
  await client.begin({ ages: true, selfie: false })
  await client.begin()
  assert.deepEqual(begun, [
    { ages: true, selfie: false },
    { ages: false, selfie: false },
  ])
  client.close()
})

test('looks are answered while the rest is fetched, and a file that fails is named', async () => {
  let fail = (_error: Error) => {}
  const loadRest = () => new Promise<void>((_resolve, reject) => (fail = reject))
  const { client } = joined({ start: async () => ({ ...FACES, loadRest }) })
  await client.load(() => {})
  const rest = client.loadRest()
  rest.catch(() => {})
  assert.deepEqual(await client.look(bitmap()), { faces: 2, face: null })
  fail(new EngineLoadError('models/fa_age.onnx'))
  await assert.rejects(rest, (error) => error instanceof EngineLoadError && error.file === 'models/fa_age.onnx')
  assert.equal(client.broken, false)
  assert.deepEqual(await client.look(bitmap()), { faces: 2, face: null })
  client.close()
})

test('nets are got ready when nothing is asked, and one that is being made holds up no more than the next question', async () => {
  const happened: string[] = []
  let finish = () => {}
  let begun = () => {}
  const hasBegun = new Promise<void>((resolve) => (begun = resolve))
  const { client } = joined({
    start: async (report) => {
      report.fetched()
      return {
        ...FACES,
        engine: {
          ...FACES.engine,
          look: async () => {
            happened.push('look')
            return { faces: 0, face: null }
          },
        },
        async warmNext() {
          happened.push('warm')
          begun()
          await new Promise<void>((resolve) => (finish = resolve))
          happened.push('warmed')
          return false
        },
      }
    },
  })
  await client.load(() => {})
  await client.look(bitmap())
  assert.deepEqual(happened, ['look'])
  await hasBegun
  const look = client.look(bitmap())
  finish()
  await look
  assert.deepEqual(happened, ['look', 'warm', 'warmed', 'look'])
  client.close()
})
