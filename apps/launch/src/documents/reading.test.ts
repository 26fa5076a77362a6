import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptReads, checkDigit, type MrzRead, type Picture } from '@ostiary/documents'
import type { WantedDocument } from './reader.ts'
import { createReading, type ReadingTools } from './reading.ts'

/** A passport of nobody: born 1990-02-03, valid until 2031-04-05. */
function passport({ expiry = '310405', birth = '900203', code = 'P<' } = {}): string[] {
  const number = 'XK4471203'
  const middle = `${number}${checkDigit(number)}UTO${birth}${checkDigit(birth)}F${expiry}${checkDigit(expiry)}`
  const optional = `${'<'.repeat(14)}0`
  const covered = middle.slice(0, 10) + middle.slice(13, 20) + middle.slice(21, 28) + optional
  return [`${code}UTOLARKFIELD<<MIRA<ODA`.padEnd(44, '<'), middle + optional + checkDigit(covered)]
}

const read = (lines: string[], more: Partial<MrzRead> = {}): MrzRead => ({
  format: 'TD3',
  lines,
  confidence: 0.98,
  leastConfidence: 0.9,
  leastUnchecked: 0.9,
  isSteady: true,
  corners: [
    { x: 100, y: 600 },
    { x: 1100, y: 600 },
    { x: 1100, y: 680 },
    { x: 100, y: 680 },
  ],
  pixelsPerCharacter: 22,
  ...more,
})

/** Sharp stripes, as print is. */
function picture({ grey = 120, contrast = 100, width = 1280, height = 720 } = {}): Picture {
  const data = new Uint8ClampedArray(width * height * 4)
  data.fill(grey + contrast, 0, 8)
  data.fill(grey, 8, 16)
  for (let filled = 16; filled < data.length; filled *= 2) data.copyWithin(filled, 0, filled)
  return { width, height, data }
}

const WANTED: WantedDocument = {
  choice: 'passport',
  today: '2026-01-01',
  acceptedTypes: ['passport', 'drivers_license'],
  expiryGraceDays: 0,
  age: { threshold: 18, format: 'threshold' },
}

function start(reads: (MrzRead | undefined)[], wanted: Partial<WantedDocument> = {}, more: Partial<ReadingTools> = {}) {
  return createReading(
    { ...WANTED, ...wanted },
    {
      identity: { id: 'mrz-1', hash: 'A'.repeat(43) },
      readMrz: () => (reads.length > 1 ? reads.shift() : reads[0]),
      acceptReads,
      lookForZone: () => undefined,
      findBarcode: async () => undefined,
      hintsOf: () => [],
      isPasted: () => false,
      ...more,
    },
  )
}

test('the portrait is judged in the last picture in which it could be searched', async () => {
  const judged: Picture[] = []
  const { look, isPasted } = start(
    [read(passport()), read(passport()), undefined],
    {},
    {
      isPasted: (seen) => judged.push(seen) > 0,
    },
  )
  const face = { centre: { x: 300, y: 300 }, width: 100, height: 130, angle: 0 }
  assert.equal(isPasted(face), false)
  const pictures = [picture(), picture(), picture()]
  for (const one of pictures) await look(one, 'page')
  assert.equal(isPasted(face), true)
  assert.equal(judged[0], pictures[1])
})

test('a text that two pictures agree on gives facts, without name, number or date', async () => {
  const { look } = start([read(passport())])
  const first = await look(picture(), 'page')
  assert.deepEqual([first.read, first.guidance, first.hasText], [undefined, 'doc_hold', true])
  assert.ok(first.areas && first.areas.length > 0, 'the portrait may be searched')
  const { read: facts } = await look(picture(), 'page')
  assert.deepEqual(facts, {
    type: 'passport',
    format: 'TD3',
    age: { result: 'above' },
    expiry: 'valid',
    checks: { number: true, birth: true, expiry: true, optional: true, composite: true },
    frames: 2,
    confidence: 980,
    hints: [],
    reader: { id: 'mrz-1', hash: 'A'.repeat(43) },
    unusable: null,
    expiredLately: false,
  })
  for (const secret of ['LARKFIELD', 'MIRA', 'XK4471203', '900203', '1990', '310405', '2031'])
    assert.ok(!JSON.stringify(facts).includes(secret), secret)
})

test('whole years come out only where the session asks for them', async () => {
  const { look } = start([read(passport())], { age: { threshold: 18, format: 'exact' } })
  await look(picture(), 'page')
  assert.deepEqual((await look(picture(), 'page')).read?.age, { result: 'above', years: 35 })
})

test('a document that expired yesterday is recognised as such, and one of years ago is not', async () => {
  for (const [expiry, lately] of [
    ['251231', true],
    ['211231', false],
  ] as const) {
    const { look } = start([read(passport({ expiry }))])
    await look(picture(), 'page')
    const { read: facts } = await look(picture(), 'page')
    assert.deepEqual([facts?.expiry, facts?.expiredLately], ['expired', lately])
  }
})

test('a kind of document that is not accepted gives nothing to send', async () => {
  const { look } = start([read(passport())], { acceptedTypes: ['national_id'] })
  await look(picture(), 'page')
  assert.equal((await look(picture(), 'page')).read?.unusable, 'unsupported')
})

test('a key of the session gives a mark of the number', async () => {
  const { look } = start([read(passport())], { reuseKey: 'A'.repeat(43) })
  await look(picture(), 'page')
  assert.match((await look(picture(), 'page')).read?.reuse ?? '', /^[A-Za-z0-9_-]{11}$/)
})

for (const [guidance, more] of [
  ['doc_too_far', { pixelsPerCharacter: 9 }],
  ['doc_too_far', { pixelsPerCharacter: 14 }],
  ['doc_too_far', { pixelsPerCharacter: 14, leastConfidence: 0.9, isSteady: false }],
  ['doc_hold', { pixelsPerCharacter: 14, leastConfidence: 0.9 }],
  ['doc_hold', { pixelsPerCharacter: 17 }],
  ['doc_too_close', { pixelsPerCharacter: 60 }],
  ['doc_too_close', { corners: read([]).corners.map(({ x, y }) => ({ x: x + 300, y })) as never }],
  ['doc_fingers', { confidence: 0.85, leastConfidence: 0.05 }],
] as const) {
  test(`lines that are seen once give guidance: ${guidance} ${JSON.stringify(more).slice(0, 70)}`, async () => {
    const { look } = start([read(passport(), { leastConfidence: 0.2, ...more })])
    assert.equal((await look(picture(), 'page')).guidance, guidance)
  })
}

test('a camera that is too small for more pixels is not asked to come closer', async () => {
  const corners = read([]).corners.map(({ x, y }) => ({ x: x / 2, y: y / 2 })) as never
  const { look } = start([read(passport(), { leastConfidence: 0.2, pixelsPerCharacter: 13, corners })])
  assert.equal((await look(picture({ width: 640, height: 480 }), 'page')).guidance, 'doc_hold')
})

const ZONE = {
  lines: [],
  columns: 44,
  pixelsPerCharacter: 20,
  tiltDegrees: 0,
  sharpness: 0.8,
  isSharp: true,
  isCutOff: false,
}
for (const [guidance, more] of [
  ['doc_too_far', { pixelsPerCharacter: 9 }],
  ['doc_too_close', { isCutOff: true }],
  ['doc_blurry', { sharpness: 0.3, isSharp: false }],
] as const) {
  test(`lines that are found but not read give guidance: ${guidance}`, async () => {
    const { look } = start([undefined], {}, { lookForZone: () => ({ ...ZONE, ...more }) })
    assert.equal((await look(picture(), 'page')).guidance, guidance)
  })
}

for (const [guidance, shown] of [
  ['doc_dark', picture({ grey: 10, contrast: 20 })],
  ['doc_glare', picture({ grey: 255, contrast: 0 })],
  ['doc_blurry', picture({ contrast: 2 })],
  ['doc_find', picture()],
] as const) {
  test(`without lines the picture itself gives guidance: ${guidance}`, async () => {
    assert.equal((await start([undefined]).look(shown, 'page')).guidance, guidance)
  })
}

test('a back that shows no lines for a while is asked to be turned over', async () => {
  const { look } = start([undefined], { choice: 'card' })
  const said = new Set<string>()
  for (let pictures = 0; pictures < 15; pictures++) said.add((await look(picture(), 'back')).guidance)
  assert.deepEqual([...said], ['doc_find', 'doc_flip'])
})

test('a sharp front is searched for the portrait, a blurred one is not', async () => {
  const { look } = start([undefined], { choice: 'card' })
  assert.ok((await look(picture(), 'front')).areas)
  assert.equal((await look(picture({ contrast: 2 }), 'front')).areas, undefined)
})

test('hints come from the side with the portrait: the page, or the front that was shown before the back', async () => {
  const asked: [Picture, number][] = []
  const hintsOf: ReadingTools['hintsOf'] = (shown, part) => {
    asked.push([shown, Math.round(part.width)])
    return ['copy', 'screen']
  }
  const page = start([read(passport())], {}, { hintsOf })
  await page.look(picture(), 'page')
  assert.deepEqual((await page.look(picture(), 'page')).read?.hints, ['copy', 'screen'])
  assert.equal(asked.length, 1, 'they take long, so they are looked for once')

  const front = picture()
  const licence = start([undefined], { choice: 'licence' }, { hintsOf, findBarcode: async () => BARCODE })
  await licence.look(front, 'front')
  await licence.look(picture(), 'back')
  await licence.look(picture(), 'back')
  assert.equal(asked[1]?.[0], front)

  const alone = start([undefined], { choice: 'licence' }, { hintsOf, findBarcode: async () => BARCODE })
  await alone.look(picture(), 'back')
  assert.deepEqual((await alone.look(picture(), 'back')).read?.hints, ['screen'], 'many backs have no colour')
})

const BARCODE = [
  '@\n\u001e\rANSI 636014100102DL00410278DLDAQD1234567',
  'DCSLARKFIELD',
  'DACMIRA',
  'DBB02291984',
  'DBA11172030',
  'DCGUSA\r',
].join('\n')

test('a barcode counts when two pictures give the same text', async () => {
  const { look } = start([undefined], { choice: 'licence' }, { findBarcode: async () => BARCODE })
  const first = await look(picture(), 'back')
  assert.deepEqual([first.read, first.guidance], [undefined, 'doc_hold'])
  const { read: facts } = await look(picture(), 'back')
  assert.deepEqual([facts?.type, facts?.format, facts?.frames, facts?.checks], ['drivers_license', 'AAMVA', 2, {}])
  assert.ok(!JSON.stringify(facts).includes('LARKFIELD'))
})

/** The lines of an enhanced licence. */
function licenceZone({ birth = '840229', family = 'LARKFIELD' } = {}): MrzRead {
  const number = 'C00047712'
  const first = `IDUSA${number}${checkDigit(number)}${'<'.repeat(15)}`
  const dates = `${birth}${checkDigit(birth)}F301117${checkDigit('301117')}`
  const second = `${dates}USA${'<'.repeat(11)}`
  const covered = `${first.slice(5)}${birth}${checkDigit(birth)}301117${checkDigit('301117')}${'<'.repeat(11)}`
  return read([first, second + checkDigit(covered), `${family}<<MIRA`.padEnd(30, '<')], { format: 'TD1' })
}

for (const [hints, zones] of [
  [[], [licenceZone()]],
  [['sides_disagree'], [licenceZone({ birth: '940228' })]],
  [['sides_disagree'], [licenceZone({ family: 'SOLE' })]],
  [[], [licenceZone({ family: 'SOLE' }), licenceZone({ family: 'SULE' })]],
] as const)
  test(`lines beside a barcode are compared with it: ${zones.map(({ lines }) => lines.join(' ')).join(', ')}`, async () => {
    const { look } = start([...zones], { choice: 'licence' }, { findBarcode: async () => BARCODE })
    await look(picture(), 'back')
    assert.deepEqual((await look(picture(), 'back')).read?.hints, hints)
  })

test('a barcode that is not found is asked to be held closer after a while', async () => {
  const { look } = start([undefined], { choice: 'licence' })
  const said = new Set<string>()
  for (let pictures = 0; pictures < 15; pictures++) said.add((await look(picture(), 'back')).guidance)
  assert.deepEqual([...said], ['barcode_find', 'barcode_focus'])
})
