/** A passport, and what a page says about it, for the tests of `judgeDocument`. Only tests import this. */
import { createHash } from 'node:crypto'
import { type DocumentPayload, type LaunchEvent, REQUIRED_CHECKS, SIMULATED_READER } from '@ostiary/contract'
import { CHAIN_START, eventText } from '@ostiary/crypto'
import { appendEvents, emptyLog, type LogState } from '../../capture-checks/index.ts'
import type { AskedDocument } from '../consistency.ts'
import type { DocumentCase } from '../judge.ts'

const NOW = new Date('2026-11-17T09:00:00.000Z')

export const ASKED: AskedDocument = {
  acceptedTypes: ['passport', 'drivers_license', 'national_id', 'residence_permit', 'other'],
  expiryGraceDays: 0,
  age: { threshold: 18, format: 'threshold' },
  match: { threshold: 0.42, capture: 'capture-1' },
  reuseCheck: false,
}

export const PASSPORT: DocumentPayload = {
  v: 1,
  kind: 'document',
  sessionId: '079b6cd9-f993-81a6-95fd-62194e74386d',
  nonce: 'step-1',
  attempt: 1,
  reader: SIMULATED_READER,
  type: 'passport',
  format: 'TD3',
  age: { result: 'above' },
  expiry: 'valid',
  checks: { number: true, birth: true, expiry: true, composite: true },
  frames: 3,
  confidence: 980,
  sides: 1,
  match: { score: 700, capture: 'capture-1' },
  hints: [],
  consent: { version: '1', locale: 'de' },
  log: { seq: 1, hash: 'h'.repeat(43) },
}

/** The checks of a format, all of which hold. */
export const checksOf = (format: DocumentPayload['format']) =>
  Object.fromEntries(REQUIRED_CHECKS[format].map((name) => [name, true]))

const UNTIL_CAMERA = 'page_open consent_shown consent_given camera_requested camera_ready'
const ONE_SIDE = 'document_shown1 document_read1'
export const ONE_DOCUMENT = `${UNTIL_CAMERA} ${ONE_SIDE} document_confirmed`
export const TWO_SIDES = `${UNTIL_CAMERA} ${ONE_SIDE} document_shown2 document_read2 document_confirmed`

/** The log of these events, three seconds apart. */
export function logOf(names: string): LogState {
  let hash = CHAIN_START
  const events = names.split(' ').map((name, index): LaunchEvent => {
    const [, type = '', n] = /^([a-z_]+?)(\d?)$/.exec(name) ?? []
    const event = {
      seq: index + 1,
      t: 3000 * (index + 1),
      type: type as LaunchEvent['type'],
      ...(n ? { n: Number(n) } : {}),
    }
    hash = createHash('sha256').update(eventText(hash, event)).digest('base64url')
    return { ...event, hash }
  })
  return appendEvents(emptyLog(), events, { maxEvents: 300 }).log
}

/** What a page says, with the changes of a test. The payload names the last entry of the log unless the test changes that. */
export function caseOf(
  change: Partial<DocumentPayload> = {},
  asked: Partial<AskedDocument> = {},
  log: LogState = logOf(change.sides === 2 ? TWO_SIDES : ONE_DOCUMENT),
): DocumentCase {
  const payload = { ...PASSPORT, log: { seq: log.seq, hash: log.hash }, ...change }
  for (const name of Object.keys(payload) as (keyof DocumentPayload)[]) {
    if (payload[name] === undefined) delete payload[name]
  }
  return {
    payload,
    asked: { ...ASKED, ...asked },
    log,
    now: NOW,
    acceptReader: ({ id }) => id === SIMULATED_READER.id,
  }
}
