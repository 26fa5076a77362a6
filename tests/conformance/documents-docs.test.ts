import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  DOCUMENT_FACE_MATCH,
  DOCUMENT_FORMATS,
  DOCUMENT_HINTS,
  DOCUMENT_LIMITS,
  DOCUMENT_TYPES,
  DocumentPayload,
  RELEASED_READERS,
  SESSION_CODES,
  TENANT_SETTINGS_DEFAULTS,
} from '@ostiary/contract'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const page = read('docs/documents.md')

/** The part under a heading, up to the next one of its rank or above. */
function part(heading: string): string {
  const from = page.indexOf(`${heading}\n`)
  assert.ok(from >= 0, `there is no part ${heading}`)
  const rest = page.slice(from + heading.length)
  const to = rest.search(new RegExp(`^#{1,${heading.indexOf(' ')}} `, 'm'))
  return to < 0 ? rest : rest.slice(0, to)
}

test('every member of the sealed facts has a row among the values that leave the device', () => {
  /** Which words stand for a member. The members that name session, step and form say nothing about the document. */
  const rows: Partial<Record<keyof typeof DocumentPayload.properties, string>> = {
    reader: 'id and hash of the reader',
    type: 'type and layout',
    format: 'type and layout',
    age: 'age against the threshold',
    expiry: 'valid, in the days of grace, expired, without expiry',
    checks: 'which check digits there were',
    frames: 'pictures in which the same text was read',
    confidence: 'certainty of the reading',
    sides: 'sides that were shown',
    match: 'score of portrait and face',
    hints: '| hints |',
    reuse: 'mark of the number',
    consent: 'version and language of the text',
    log: 'log entries',
    indicators: '21 signs of an automated or changed browser',
    browser: 'its kind (ordinary, in an app, made for privacy), whether the camera is a phone',
    metadata: 'size of the camera',
  }
  const unspoken = ['v', 'kind', 'sessionId', 'nonce', 'attempt']
  assert.deepEqual(
    Object.keys(DocumentPayload.properties).toSorted(),
    [...Object.keys(rows), ...unspoken].toSorted(),
    'the facts have another member: docs/documents.md has to name it',
  )
  const values = part('## What leaves the device')
  for (const words of Object.values(rows)) assert.ok(values.includes(words), words)
})

test('settings stand there with their defaults, types, layouts and hints by their names', () => {
  const settings = part('## Settings, codes, limits')
  const { documentTypes, documentExpiryGraceDays, documentReuseCheck, alternativeUrl } = TENANT_SETTINGS_DEFAULTS
  assert.deepEqual(documentTypes, [...DOCUMENT_TYPES])
  assert.ok(settings.includes('| `documentTypes` | all five |'))
  assert.ok(settings.includes(`| \`documentExpiryGraceDays\` | ${documentExpiryGraceDays} |`))
  assert.ok(settings.includes(`| \`documentReuseCheck\` | \`${documentReuseCheck}\` |`))
  assert.ok(settings.includes(`| \`alternativeUrl\` | \`${alternativeUrl}\` |`))
  for (const name of DOCUMENT_TYPES) assert.ok(settings.includes(`\`${name}\``), name)
  for (const name of DOCUMENT_FORMATS) assert.ok(page.includes(`\`${name}\``), name)
  for (const name of DOCUMENT_HINTS) assert.ok(part('## Hints').includes(`| \`${name}\` |`), name)
})

test('codes, thresholds and limits are those of the contract', () => {
  const settings = part('## Settings, codes, limits')
  for (const name of [
    'VIDEO_SPOOF',
    'FACE_NOT_MATCH',
    'MODEL_LOAD_FAILED',
    'DOCUMENT_EXPIRED',
    'DOCUMENT_UNREADABLE',
    'DOCUMENT_UNSUPPORTED',
    'DOCUMENT_TAMPERED',
    'DOB_NOT_FOUND',
  ] as const)
    assert.ok(settings.includes(`| ${SESSION_CODES[name].code} | \`${name}\` |`), name)
  const { threshold, betterLightFrom } = DOCUMENT_FACE_MATCH
  assert.ok(settings.includes(`Area D compares at ${threshold}`))
  assert.ok(page.includes(`From ${betterLightFrom} to the threshold`))
  assert.equal(DOCUMENT_LIMITS.attempts, 3)
  assert.ok(settings.includes('**Three tries'))
  assert.equal(DOCUMENT_LIMITS.looks, 6)
  assert.ok(settings.includes('six times at most'))
  assert.ok(settings.includes(`begun ${DOCUMENT_LIMITS.begins} times`))
  assert.ok(settings.includes(`lasts ${DOCUMENT_LIMITS.stepSeconds / 60} minutes`))
  assert.ok(settings.includes(`at most ${DOCUMENT_LIMITS.expiryGraceDaysMax.toLocaleString('en')};`))
})

test('the released reader is named with its digest and the facts of its training', () => {
  const card = read('docs/models.md')
  const { bytes, cells, frames, seed, epochs } = JSON.parse(read('models/mrz/manifest.json'))
  const reader = RELEASED_READERS.at(-1) ?? assert.fail()
  for (const fact of [
    `reader \`${reader.id}\`, digest \`${reader.hash}\``,
    `${bytes.toLocaleString('en')} bytes`,
    `${cells.toLocaleString('en')} cells of ${frames} drawn frames`,
    `seed ${seed}, ${epochs} epochs`,
  ])
    assert.ok(card.includes(fact), fact)
})
