/** Documents as the camera sees them are read by the page's own code. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import {
  acceptReads,
  BORDER_SHARPNESS_MIN,
  borderSharpness,
  isAcceptable,
  portraitAreas,
  readFrame,
  SCREEN_PEAK_MIN,
  screenPeak,
} from '@ostiary/documents'
import { createFaceEngine, type Picture } from '@ostiary/faces'
import { loadNetFromDisk } from '@ostiary/models/node-nets'
import { missingProgram } from '@ostiary/testkit/missing'
import {
  type DocumentSide,
  drivingLicence,
  identityCard,
  inventHolder,
  passportPage,
} from '@ostiary/testkit/samples/documents'
import { readPicture, SPECIMEN_PASSPORT } from '@ostiary/testkit/samples/portraits'
import { drawSide } from './documents.ts'
import { drawHeld, type HeldOptions } from './held.ts'

const skip = missingProgram('ffmpeg')
const SIZE = { width: 1280, height: 720 }
const HOLDER = inventHolder({ birth: '1987-03-09', expiry: '2031-10-24' })
const engine = createFaceEngine({ load: loadNetFromDisk() })

async function held(side: DocumentSide, { frames = 2, ...options }: HeldOptions & { frames?: number } = {}) {
  const pictures: Picture[] = []
  for (const picture of drawHeld(await drawSide(side), { size: SIZE, seed: 1, ...options })) {
    pictures.push(picture)
    if (pictures.length === frames) break
  }
  return pictures
}

const readsOf = (pictures: readonly Picture[]) => pictures.flatMap((picture) => readFrame(picture) ?? [])

test('a passport is read in two frames, and its portrait is found', { skip }, async () => {
  const page = passportPage(HOLDER, { portrait: 'figure' })
  const [first, ...others] = await held(page)
  assert.ok(first)
  const accepted = acceptReads(readsOf([first, ...others]))
  assert.ok(accepted.state === 'accepted')
  assert.deepEqual(accepted.read.lines, page.zone)
  assert.ok(accepted.read.pixelsPerCharacter >= 16)
  const [read] = readsOf([first])
  assert.ok(read)
  assert.equal((await engine.findPortrait(first, portraitAreas(read))).is, 'found')
})

test('a passport with strong waves on its paper is read', { skip }, async () => {
  const page = { ...passportPage(HOLDER, {}), seed: 1 }
  const accepted = acceptReads(readsOf(await held(page)))
  assert.ok(accepted.state === 'accepted')
  assert.deepEqual(accepted.read.lines, page.zone)
})

const skipSpecimen = skip || (!existsSync(SPECIMEN_PASSPORT) && `there is no ${SPECIMEN_PASSPORT}`)

test('a specimen that somebody else drew is read', { skip: skipSpecimen }, async () => {
  const read = readFrame(await readPicture(SPECIMEN_PASSPORT))
  assert.ok(read && isAcceptable(read))
  assert.deepEqual(read.lines, [
    'P<UTOSPECIMEN<<ALMA<TEST<<<<<<<<<<<<<<<<<<<<',
    'L898902C36UTO5908123F3104150<<<<<<<<<<<<<<<6',
  ])
})

test('the back of a card is read, and the portrait is found on its front in the guide frame', { skip }, async () => {
  const { front, back } = identityCard(HOLDER, { portrait: 'figure' })
  const accepted = acceptReads(readsOf(await held(back)))
  assert.ok(accepted.state === 'accepted')
  assert.deepEqual(accepted.read.lines, back.zone)
  assert.equal((await findInFrame(front)).sighting.is, 'found')
})

test('the portrait is found on the front of a licence', { skip }, async () => {
  assert.equal((await findInFrame(drivingLicence(HOLDER, { portrait: 'figure' }).front)).sighting.is, 'found')
})

/** The frame that a card fills when it is held as large as `held` does by default. */
async function findInFrame(front: DocumentSide) {
  const [picture] = await held(front, { frames: 1 })
  assert.ok(picture)
  const height = 0.86 * SIZE.height
  const width = (height * 85.6) / 54
  const frame = { x: (SIZE.width - width) / 2, y: (SIZE.height - height) / 2, width, height }
  return { picture, sighting: await engine.findPortrait(picture, portraitAreas({ frame })) }
}

test('the printed portraits of a card and a licence do not look pasted, and a pasted one does', { skip }, async () => {
  const { front } = identityCard(HOLDER, { portrait: 'figure' })
  for (const [side, isPasted] of [
    [front, false],
    [drivingLicence(HOLDER, { portrait: 'figure' }).front, false],
    [{ ...front, portraitIs: 'pasted' }, true],
  ] as const) {
    const { picture, sighting } = await findInFrame(side)
    assert.ok(sighting.is === 'found')
    const sharpness = borderSharpness(picture, sighting.face) ?? 0
    assert.equal(sharpness >= BORDER_SHARPNESS_MIN, isPasted, `${side.side}: ${sharpness}`)
  }
})

test('a check digit that does not fit is seen, and a passport on a screen is read', { skip }, async () => {
  const failing = passportPage(HOLDER, { failingDigit: true })
  assert.equal(acceptReads(readsOf(await held(failing, { frames: 6 }))).state, 'digit_failed')
  const shown = acceptReads(readsOf(await held(passportPage(HOLDER, {}), { screen: true, frames: 5 })))
  assert.equal(shown.state, 'accepted')
})

test('a screen looks like one, and paper does not, whatever is printed on it', { skip }, async () => {
  const peakOf = async (seed: number, screen: boolean) => {
    const holder = inventHolder({ birth: '2011-02-11', expiry: '2029-06-30', seed })
    const [picture] = await held(passportPage(holder, { portrait: 'figure' }), { screen, frames: 1 })
    return (picture && screenPeak(picture)) ?? Number.NaN
  }
  for (const seed of [0, 1, 2]) assert.ok((await peakOf(seed, false)) < SCREEN_PEAK_MIN)
  assert.ok((await peakOf(0, true)) >= SCREEN_PEAK_MIN)
})

test('a passport that is out of focus is not read', { skip }, async () => {
  const reads = readsOf(await held(passportPage(HOLDER, {}), { blurPx: 4, frames: 3 }))
  assert.equal(acceptReads(reads).state, 'searching')
})
