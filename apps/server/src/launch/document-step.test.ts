import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ageRules } from '../age/flow.ts'
import { documentOf, newProgress, withDocument } from '../sessions/index.ts'
import { beginDocument } from './document-step.ts'
import { NOW, sessionAt } from './testing/session.ts'

const FACE = { estimateYears: 20, doubtful: false }
const BEGINNING = { nonce: 'step', reuseKey: undefined, now: NOW }

/** A session that the last release has sent to the document step: it has no member for the document. */
function ofLastRelease() {
  const session = sessionAt('DOC_ACTIVE', { stepUpEnabled: true })
  const progress = { ...newProgress('en'), own: FACE, attempt: 1, usedNonces: ['first'] }
  return { ...session, progress }
}

function begin(session: ReturnType<typeof ofLastRelease>) {
  const { document } = ageRules(session)
  assert.ok(document)
  const step = beginDocument(session, document, BEGINNING)
  return { step, issued: step.refuse ? undefined : step.reply }
}

describe('the beginning of a document step', () => {
  test('in a session of the last release compares with a face that no device holds: the device looks again', () => {
    const { issued, step } = begin(ofLastRelease())
    assert.deepEqual(issued?.match, { threshold: 0.5, betterLightFrom: 0.35, capture: '' })
    assert.deepEqual(issued?.acceptedTypes, ['passport', 'drivers_license', 'national_id', 'residence_permit', 'other'])
    const { capture, begins } = documentOf(step.progress)
    assert.deepEqual([capture, begins], [null, 1])
  })

  test('is allowed thirty times, and then ends the flow', () => {
    const session = ofLastRelease()
    const last = { ...session, progress: withDocument(session.progress, { begins: 29 }) }
    assert.ok(begin(last).issued)
    const { issued, step } = begin({ ...session, progress: withDocument(session.progress, { begins: 30 }) })
    assert.equal(issued, undefined)
    assert.deepEqual(step.end, { how: 'failed', failures: ['ATTEMPTS_EXCEEDED'] })
    assert.equal(step.refuse?.code, 'SESSION_NOT_OPEN')
  })

  test('asks for better light never above the threshold of the host', () => {
    const session = ofLastRelease()
    const lenient = { ...session, request: { ...session.request, faceMatchThreshold: 0.2 } }
    assert.deepEqual(begin(lenient).issued?.match, { threshold: 0.2, betterLightFrom: 0.2, capture: '' })
  })
})
