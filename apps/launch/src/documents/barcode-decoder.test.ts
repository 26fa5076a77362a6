import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, test } from 'node:test'
import { type BarcodeDecoder, findBarcode, type Picture, parseAamva, turnPicture } from '@ostiary/documents'
import bwip from 'bwip-js/node'
import { BARCODE_READER } from '../../runtime-files.ts'
import { createBarcodeDecoder } from './barcode-decoder.ts'

const CARD = [
  '@\n\x1e\rANSI 636014100001DL00310200DLDAQD1234567',
  'DCSLUNE',
  'DDEN',
  'DACMIRA',
  'DDFN',
  'DADODA',
  'DDGN',
  'DCAC',
  'DCBNONE',
  'DCDNONE',
  'DBD11172022',
  'DBB02291984',
  'DBA11172030',
  'DBC2',
  'DAU068 in',
  'DAYBRO',
  'DAG12 HARBOUR ST',
  'DAIPORT',
  'DAJCA',
  'DAK900010000  ',
  'DCF00112233445566',
  'DCGUSA\r',
].join('\n')

/** A barcode on a light card, drawn by another library than the one that reads it. */
function drawBarcode(text: string, pixelsPerModule: number): Picture {
  // The types of bwip-js lack the options of single barcodes.
  const options = { bcid: 'pdf417', text, columns: 14, eclevel: 5, binarytext: true }
  const [drawn] = bwip.raw(options)
  if (!drawn || !('pixs' in drawn)) throw new Error('bwip-js drew no matrix')
  const { pixs, pixx } = drawn
  const rows = pixs.length / pixx
  const margin = 20 * pixelsPerModule
  const width = Math.round(pixx * pixelsPerModule + 2 * margin)
  const height = Math.round(rows * 3 * pixelsPerModule + 2 * margin)
  const data = new Uint8ClampedArray(width * height * 4).fill(255)
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const column = Math.floor((x - margin) / pixelsPerModule)
      const row = Math.floor((y - margin) / pixelsPerModule / 3)
      const isDark = column >= 0 && column < pixx && row >= 0 && row < rows && pixs[row * pixx + column] === 1
      data.fill(isDark ? 30 : 225, (y * width + x) * 4, (y * width + x) * 4 + 3)
    }
  return { width, height, data }
}

let decode: BarcodeDecoder
let loads = 0

before(() => {
  decode = createBarcodeDecoder(async () => {
    loads += 1
    return new Uint8Array(readFileSync(BARCODE_READER.from))
  })
})

test('a card is decoded and parsed at a tilt of up to 12 degrees', async () => {
  const flat = drawBarcode(CARD, 2.5)
  for (const tilt of [-11, -4.5, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]) {
    const found = await findBarcode(tilt === 0 ? flat : turnPicture(flat, tilt), decode)
    assert.equal(found?.text, CARD, `${tilt} degrees`)
    assert.ok(Math.abs(found.turnDegrees + tilt) <= 4, `${tilt} degrees were turned by ${found.turnDegrees}`)
  }
  assert.equal(parseAamva(CARD)?.birth, '1984-02-29')
})

test('the program is loaded once for all pictures', () => assert.equal(loads, 1))

test('a picture without a barcode gives nothing', async () => {
  const data = new Uint8ClampedArray(200 * 100 * 4).fill(200)
  assert.equal(await decode({ width: 200, height: 100, data }), undefined)
})

test('after a failed download the next picture tries again', async () => {
  let tries = 0
  const failing = createBarcodeDecoder(async () => {
    tries += 1
    throw new Error('no network')
  })
  const picture = { width: 2, height: 2, data: new Uint8ClampedArray(16) }
  await assert.rejects(failing(picture), /no network/)
  await assert.rejects(failing(picture), /no network/)
  assert.equal(tries, 2)
})

test('the pinned file is the one of the package, under a name with its hash', () => {
  const { path, sizeBytes, sha256 } = BARCODE_READER.facts
  assert.equal(sizeBytes, readFileSync(BARCODE_READER.from).length)
  assert.equal(path, `assets/zxing-reader-${sha256.slice(0, 8)}.wasm`)
})
