import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from './testing/running-api.ts'

const { cli, client } = await startApi('cli_document')

test('a person without a document stops at the document step, and the command names the option', async () => {
  const { code, out } = await cli('simulate --create --order face-first --age 34')
  assert.equal(code, 3)
  assert.match(
    out,
    /The flow stands at DOC_ACTIVE\n {2}The session asks for a document: --document gives the person one/,
  )
})

for (const order of ['face-first', 'document-first', 'alone'])
  test(`an invented passport decides the session: ${order}`, async () => {
    const { code, out } = await cli(`simulate --create --order ${order} --threshold 18 --age 34 --document --json`)
    const { result } = JSON.parse(out)
    assert.deepEqual([code, result.status, result.errors], [0, 'AGE_ABOVE_THRESHOLD', []])
    assert.equal(result.document.type, 'passport')
    assert.equal(result.result.faceMatch, order === 'alone' ? undefined : true)
  })

test('an invented card answers a step-up, and is named in words', async () => {
  const { code, out } = await cli(
    'simulate --create --step-up --threshold 30 --age 24 --document --document-format TD1',
  )
  assert.equal(code, 0, 'below the threshold is a verdict too')
  assert.match(out, /document {3}national_id \(TD1\), AGE_BELOW_THRESHOLD, the same face/)
})

test('[U4] each fault of a document has its code, its verdict or its flag, and without a verdict never ALLOW', async () => {
  const ends: Record<string, unknown> = {}
  for (const fault of [
    'minor',
    'expired',
    'unreadable',
    'unsupported',
    'tampered',
    'no-birth-date',
    'wrong-person',
    'screen',
  ]) {
    const { out } = await cli(`simulate --create --order face-first --threshold 18 --document ${fault} --json`)
    const { status, errors, riskEvaluation } = JSON.parse(out).result
    ends[fault] = [
      status,
      errors.includes(-19) ? errors.filter((code: number) => code !== -19) : errors,
      riskEvaluation.flags.filter((flag: string) => flag.startsWith('DO_')),
      riskEvaluation.recommendation,
    ]
  }
  assert.deepEqual(ends, {
    minor: ['AGE_BELOW_THRESHOLD', [], [], 'ALLOW'],
    expired: ['AGE_UNKNOWN', [-26], [], 'REVIEW'],
    unreadable: ['AGE_UNKNOWN', [-27], [], 'REVIEW'],
    unsupported: ['AGE_UNKNOWN', [-28], [], 'REVIEW'],
    tampered: ['AGE_UNKNOWN', [-29], [], 'REVIEW'],
    'no-birth-date': ['AGE_UNKNOWN', [-30], [], 'REVIEW'],
    'wrong-person': ['AGE_UNKNOWN', [-9], [], 'REVIEW'],
    screen: ['AGE_ABOVE_THRESHOLD', [], ['DO_SCREEN'], 'REVIEW'],
  })
})

test('a person enrols with an invented document, which needs no date of birth there and is named in words', async () => {
  const { code, out, err } = await cli('simulate --create --type ENROLL --document no-birth-date --face 41')
  assert.equal(code, 0, err)
  assert.match(out, /\n {2}document {3}passport \(TD3\), the same face\n {2}consent /)
  const [, sessionId = ''] = /^Session (\S+)/.exec(out) ?? []
  const { status, identityInformation } = await client().verification.webhook(sessionId)
  assert.deepEqual([status, identityInformation?.documentType], ['SUCCESS', 'passport'])
})

test('an unknown fault or format of a document is named before a session is created', async () => {
  for (const line of [
    '--document torn',
    '--document expired twice',
    '--document --document-format TD9',
    '--document-format TD1',
    'expired',
    '--order last --document',
  ]) {
    const { code, err } = await cli(`simulate --create ${line}`)
    assert.equal(code, 2, line)
    assert.match(err, /document|simulate takes no|--order/, line)
  }
})
