import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  DOCUMENT_EXPIRIES,
  DOCUMENT_FORMATS,
  DOCUMENT_HINTS,
  type DocumentPayload,
  DocumentRecord,
  READ_DOCUMENT_TYPES,
  REQUIRED_CHECKS,
} from '@ostiary/contract'
import Value from 'typebox/value'
import type { AskedDocument } from './consistency.ts'
import { judgeDocument } from './judge.ts'
import { caseOf, checksOf, logOf, ONE_DOCUMENT } from './testing/document.ts'

type Change = Partial<{ [K in keyof DocumentPayload]: DocumentPayload[K] | undefined }>

const judge = (change: Change = {}, asked: Partial<AskedDocument> = {}) =>
  judgeDocument(caseOf(change as Partial<DocumentPayload>, asked))
function outcomeOf(change: Change, asked: Partial<AskedDocument> = {}): string {
  const judged = judge(change, asked)
  return 'fault' in judged ? `fault ${judged.fault}` : (judged.failure ?? 'accepted')
}

const ALONE = { match: null } as const
const NO_AGE = { age: null } as const

describe('a document', () => {
  test('that is complete and agrees with what was asked is accepted, with its facts and nothing else', () => {
    assert.deepEqual(judge(), {
      flags: [],
      failure: null,
      document: {
        record: {
          type: 'passport',
          format: 'TD3',
          expiry: 'valid',
          checksHeld: ['number', 'birth', 'expiry', 'composite'],
          equalFrames: 3,
          confidence: 0.98,
          consent: { version: '1', language: 'de', at: '2026-11-17T09:00:00.000Z' },
        },
        age: { result: 'above' },
        score: 0.7,
      },
    })
  })

  for (const format of DOCUMENT_FORMATS) {
    test(`in the format ${format} needs all its check digits, and each of them must hold`, () => {
      const isVisa = format.startsWith('MRV')
      const type = isVisa ? 'visa' : format === 'TD3' ? 'passport' : 'national_id'
      const good = { format, type, checks: checksOf(format) } as const
      assert.equal(outcomeOf(good), isVisa ? 'DOCUMENT_UNSUPPORTED' : 'accepted')
      for (const name of REQUIRED_CHECKS[format]) {
        const { [name]: _gone, ...fewer } = good.checks
        assert.equal(outcomeOf({ ...good, checks: fewer }), 'fault checks', `without ${name}`)
        assert.equal(outcomeOf({ ...good, checks: { ...good.checks, [name]: false } }), 'DOCUMENT_TAMPERED', name)
      }
      const withOptional = outcomeOf({ ...good, checks: { ...good.checks, optional: false } })
      assert.equal(withOptional, format === 'AAMVA' ? 'fault checks' : 'DOCUMENT_TAMPERED')
    })
  }

  test('of a type that its format is not printed on is a fault', () => {
    const fitting = DOCUMENT_FORMATS.map((format) =>
      READ_DOCUMENT_TYPES.filter((type) => outcomeOf({ format, type, checks: checksOf(format) }) !== 'fault type'),
    )
    const card = ['passport', 'drivers_license', 'national_id', 'residence_permit', 'other']
    assert.deepEqual(Object.fromEntries(DOCUMENT_FORMATS.map((format, at) => [format, fitting[at]])), {
      TD1: card,
      TD2: card,
      TD3: ['passport', 'other'],
      MRV_A: ['visa'],
      MRV_B: ['visa'],
      FR_2X36: ['national_id', 'other'],
      AAMVA: ['drivers_license', 'national_id'],
    })
  })

  test('of a type that the tenant does not accept is refused', () => {
    assert.equal(outcomeOf({}, { acceptedTypes: ['national_id'] }), 'DOCUMENT_UNSUPPORTED')
    assert.equal(outcomeOf({}, { acceptedTypes: ['passport'] }), 'accepted')
  })

  test('counts for the days of grace that the tenant allows, and no longer', () => {
    const byRule = (expiryGraceDays: number) =>
      DOCUMENT_EXPIRIES.map((expiry) => outcomeOf({ expiry }, { expiryGraceDays }))
    assert.deepEqual(byRule(0), ['accepted', 'fault expiry', 'DOCUMENT_EXPIRED', 'fault expiry'])
    assert.deepEqual(byRule(30), ['accepted', 'accepted', 'DOCUMENT_EXPIRED', 'fault expiry'])
    const card = { format: 'TD1', type: 'national_id', checks: checksOf('TD1') } as const
    assert.equal(outcomeOf({ ...card, expiry: 'none' }), 'accepted', 'a card may have no date of expiry')
  })

  test('needs two equal pictures, and a reading that is sure enough', () => {
    assert.equal(outcomeOf({ frames: 1 }), 'fault frames')
    assert.equal(outcomeOf({ frames: 2 }), 'accepted')
    assert.equal(outcomeOf({ confidence: 499 }), 'DOCUMENT_UNREADABLE')
    assert.equal(outcomeOf({ confidence: 500 }), 'accepted')
  })

  test('of a reader that is not ours counts for nothing and raises a flag', () => {
    const reader = { id: 'reader-of-somebody', hash: 'x'.repeat(43) }
    assert.deepEqual(judge({ reader }), { flags: ['BH_MODEL_MISMATCH'], failure: 'MODEL_LOAD_FAILED', document: null })
  })

  test('is refused with a text of consent that the page does not have', () => {
    assert.equal(outcomeOf({ consent: { version: '1', locale: 'en-GB' } }), 'accepted')
    for (const locale of ['tlh', 'nonsense!', 'sw'])
      assert.equal(outcomeOf({ consent: { version: '1', locale } }), 'fault consent', locale)
  })
})

describe('the age of a document', () => {
  const at = (threshold: number, format: 'threshold' | 'exact' | 'both' = 'exact') => ({ age: { threshold, format } })
  const results = ['above', 'at', 'below'] as const

  test('agrees with its whole years and the threshold, or is a fault', () => {
    for (const [years, threshold, allowed] of [
      [18, 18, 'at'],
      [19, 18, 'above'],
      [17, 18, 'below'],
      [0, 18, 'below'],
      [130, 120, 'above'],
      [17, 17.5, 'above below'],
      [18, 17.5, 'above'],
      [16, 17.5, 'below'],
    ] as const) {
      const fitting = results.filter((result) => outcomeOf({ age: { result, years } }, at(threshold)) === 'accepted')
      assert.equal(fitting.join(' '), allowed, `${years} years against ${threshold}`)
    }
  })

  test('comes with years only where the host asks for them', () => {
    const withYears = { age: { result: 'above', years: 40 } } as const
    assert.equal(outcomeOf(withYears, at(18, 'threshold')), 'fault age')
    assert.equal(outcomeOf(withYears, at(18, 'both')), 'accepted')
    for (const format of ['exact', 'both'] as const)
      assert.equal(outcomeOf({ age: { result: 'above' } }, at(18, format)), 'fault age')
    assert.equal(outcomeOf({ age: { result: 'at' } }, at(17.5, 'threshold')), 'fault age')
  })

  test('must be there where it was asked for (-30), and must not where it was not', () => {
    assert.equal(outcomeOf({ age: undefined }), 'DOB_NOT_FOUND')
    assert.equal(outcomeOf({ age: undefined }, NO_AGE), 'accepted')
    assert.equal(outcomeOf({}, NO_AGE), 'fault age')
  })
})

describe('the portrait of a document', () => {
  test('[C-021] matches from the threshold on', () => {
    const by = (score: number, threshold: number) =>
      outcomeOf({ match: { score, capture: 'capture-1' } }, { match: { threshold, capture: 'capture-1' } })
    for (const threshold of [0.42, 0.35, 0.007, 0.57, 0.29, 1]) {
      const exact = Math.round(threshold * 1000)
      assert.equal(by(exact, threshold), 'accepted', `${threshold}`)
      assert.equal(by(exact - 1, threshold), 'FACE_NOT_MATCH', `${threshold}`)
    }
    assert.equal(by(-1000, 0.42), 'FACE_NOT_MATCH')
  })

  test('is compared on the scale of the threshold: at 0 every face matches, as the result says', () => {
    const lowest = { match: { score: -1000, capture: 'capture-1' } }
    assert.equal(outcomeOf(lowest, { match: { threshold: 0, capture: 'capture-1' } }), 'accepted')
    assert.equal(outcomeOf(lowest, { match: { threshold: 0.001, capture: 'capture-1' } }), 'FACE_NOT_MATCH')
  })

  test('keeps its score when it does not match, from 0 to 1, because the host gets it', () => {
    const scoreAt = (score: number) => {
      const judged = judge({ match: { score, capture: 'capture-1' } })
      return 'fault' in judged ? judged : judged.document?.score
    }
    assert.deepEqual([scoreAt(419), scoreAt(-300), scoreAt(1000)], [0.419, 0, 1])
  })

  test('is compared exactly when a face was seen, and with the face of this device', () => {
    assert.equal(outcomeOf({}, ALONE), 'fault match')
    assert.equal(outcomeOf({ match: undefined }, ALONE), 'accepted')
    assert.equal(outcomeOf({ match: undefined }), 'DOCUMENT_UNREADABLE', 'a portrait that was not found')
    assert.equal(outcomeOf({ match: { score: 700, capture: 'capture-2' } }), 'fault match')
    assert.equal(outcomeOf({}, { match: { threshold: 0.42, capture: null } }), 'fault match')
  })

  test('that was not found leaves nothing to compare (-27)', () => {
    assert.equal(outcomeOf({ match: undefined, hints: ['no_portrait'] }), 'DOCUMENT_UNREADABLE')
    const alone = judge({ match: undefined, hints: ['no_portrait'] }, ALONE)
    assert.deepEqual('fault' in alone || [alone.failure, alone.flags], [null, ['DO_NO_PORTRAIT']])
  })
})

describe('the log of a document', () => {
  const judgedBy = (names: string, change: Change = {}) => {
    const judged = judgeDocument(caseOf(change as Partial<DocumentPayload>, {}, logOf(names)))
    return 'fault' in judged ? judged : [judged.failure, ...judged.flags]
  }
  const UNTIL_CAMERA = 'page_open consent_shown consent_given camera_requested camera_ready'

  test('has the document shown, read and confirmed, and as many sides as were sent', () => {
    assert.deepEqual(judgedBy(ONE_DOCUMENT), [null])
    const noCapture = ['VIDEO_SPOOF', 'BH_RESULT_NO_CAPTURE']
    assert.deepEqual(judgedBy(`${UNTIL_CAMERA} document_shown1 document_read1`), noCapture)
    assert.deepEqual(judgedBy(UNTIL_CAMERA), noCapture)
    assert.deepEqual(judgedBy(`${ONE_DOCUMENT} document_read1`), noCapture, 'read after it was confirmed')
    assert.deepEqual(judgedBy(ONE_DOCUMENT, { sides: 2 }), noCapture)
    assert.deepEqual(judgedBy(`${ONE_DOCUMENT} page_open`), noCapture, 'a reload forgets the document')
  })

  test('ends with the entry that the payload names', () => {
    const { hash } = logOf(ONE_DOCUMENT)
    assert.deepEqual(judgedBy(ONE_DOCUMENT, { log: { seq: 7, hash } }), ['VIDEO_SPOOF', 'BH_RESULT_NO_CAPTURE'])
    const other = judgedBy(ONE_DOCUMENT, { log: { seq: 8, hash: 'h'.repeat(43) } })
    assert.deepEqual(other, ['VIDEO_SPOOF', 'BH_RESULT_NO_CAPTURE'])
  })
})

test('each hint raises its own flag and refuses nothing', () => {
  const flags = ['DO_SCREEN', 'DO_COPY', 'DO_PASTED_PORTRAIT', 'DO_SIDES_DISAGREE', 'DO_NO_PORTRAIT']
  const judged = judge({ hints: [...DOCUMENT_HINTS], match: undefined }, ALONE)
  assert.deepEqual('fault' in judged || [judged.failure, judged.flags], [null, flags])
})

test('a mark of the number is taken only where the tenant looks for repeated use', () => {
  assert.equal(outcomeOf({ reuse: 'AAAAAAAAAAA' }), 'fault reuse')
  assert.equal(outcomeOf({ reuse: 'AAAAAAAAAAA' }, { reuseCheck: true }), 'accepted')
})

describe('of many changed payloads', () => {
  const mutations: Change[] = [
    { type: 'visa' },
    { type: 'drivers_license' },
    { format: 'AAMVA' },
    { format: 'MRV_A' },
    { age: { result: 'below' } },
    { age: { result: 'at', years: 18 } },
    { age: undefined },
    { expiry: 'expired' },
    { expiry: 'grace' },
    { expiry: 'none' },
    { checks: {} },
    { checks: { number: true, birth: false, expiry: true, composite: true } },
    { frames: 1 },
    { confidence: 0 },
    { sides: 2 },
    { match: undefined },
    { match: { score: 0, capture: 'capture-1' } },
    { match: { score: 1000, capture: 'another' } },
    { hints: ['no_portrait'] },
    { reuse: 'AAAAAAAAAAA' },
    { consent: { version: '1', locale: 'xx' } },
    { reader: { id: 'other', hash: 'x'.repeat(43) } },
  ]

  test('no two together pass where one of them does not, and what passes has the shape of the contract', () => {
    const alone = mutations.map((change) => outcomeOf(change))
    for (const [at, first] of mutations.entries()) {
      for (const [then, second] of mutations.entries()) {
        if (then <= at || Object.keys(first).some((name) => name in second)) continue
        const judged = judge({ ...first, ...second })
        const passes = !('fault' in judged) && judged.failure === null
        const name = JSON.stringify([first, second])
        if (passes) assert.deepEqual([alone[at], alone[then]], ['accepted', 'accepted'], name)
        if (passes) assert.ok(Value.Check(DocumentRecord, judged.document?.record), name)
        if (!('fault' in judged) && judged.failure !== null && judged.failure !== 'FACE_NOT_MATCH')
          assert.equal(judged.document, null, name)
      }
    }
  })
})
