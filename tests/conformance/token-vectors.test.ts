import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ROOT } from '@ostiary/testkit/run'
import { judge } from '@ostiary/token'
import { openEvaluation } from '@ostiary/token/testing'
import { makeMessages, PATH, type PublishedVectors, sha256 } from './token-vectors.ts'

const published = JSON.parse(readFileSync(`${ROOT}${PATH}`, 'utf8')) as PublishedVectors
const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))

/** The example is a file that runs without any package, so it has no name to import it by. */
const { openMessages, openTests } = (await import(`${ROOT}docs/examples/token/open.ts`)) as {
  openMessages(messages: Record<string, Uint8Array>): Record<string, number[]>
  openTests(evaluation: Uint8Array, keyShare: Uint8Array): Record<string, number[]>
}

test('the published messages are made again byte for byte', async () => {
  const { enrolledToken, probe, selfProbe, evaluation, selfEvaluation } = await makeMessages()
  const { token, publicKey, matcherShare, keyShare } = enrolledToken
  assert.deepEqual(token, bytes(published.token))
  assert.deepEqual(publicKey, bytes(published.public_key))
  assert.deepEqual(matcherShare, bytes(published.matcher_share))
  assert.deepEqual(keyShare, bytes(published.key_share))
  assert.deepEqual(probe, bytes(published.probe))
  const start = bytes(published.evaluation_start)
  assert.deepEqual(evaluation.subarray(0, start.length), start)
  assert.equal(sha256(evaluation), published.evaluation_sha256)
  assert.equal(sha256(selfProbe), published.enrolment.self_probe_sha256)
  assert.equal(sha256(selfEvaluation), published.enrolment.evaluation_sha256)
})

test('the package opens the published vectors to the published numbers', async () => {
  const { enrolled, fresh, enrolledToken, probe, selfProbe, evaluation, selfEvaluation } = await makeMessages()
  const { token, keyShare } = enrolledToken
  const product = (one: Int16Array, other: Int16Array) =>
    one.reduce((sum, value, i) => sum + value * (other[i] ?? 0), 0)
  const signIn = { token, keyShare, probe, evaluation, isEnrolment: false }
  const enrolment = { token, keyShare, probe: selfProbe, evaluation: selfEvaluation, isEnrolment: true }
  assert.deepEqual(await judge(signIn), {
    attack: undefined,
    score: product(enrolled, fresh),
    probeNorm: product(fresh, fresh),
  })
  const norm = product(enrolled, enrolled)
  assert.deepEqual(await judge(enrolment), { attack: undefined, score: norm, probeNorm: norm })
  for (const [input, opened] of [
    [signIn, published.opened],
    [enrolment, published.enrolment.opened],
  ] as const) {
    const { score, probeNorm, linear, short, cross } = await openEvaluation(input)
    assert.deepEqual({ score, probe_norm: probeNorm, ...join({ linear, short, cross }) }, opened)
  }
})

test('the slow reader of docs/examples opens the published vectors to the same numbers', async () => {
  const { enrolledToken, probe, evaluation } = await makeMessages()
  const {
    score,
    probeNorm,
    linear = [],
    short = [],
    cross = [],
    enrolled,
    fresh,
  } = openMessages({
    ...enrolledToken,
    probe,
    evaluation,
  })
  assert.deepEqual({ score, probe_norm: probeNorm, ...join({ linear, short, cross }) }, published.opened)
  const unused = ' 0'.repeat(512)
  assert.equal(enrolled?.join(' '), published.enrolled + unused)
  assert.equal(fresh?.join(' '), published.fresh + unused)
})

test('the slow reader opens the tests of the enrolment to the same numbers', async () => {
  const { enrolledToken, selfEvaluation } = await makeMessages()
  const { linear, short, cross } = published.enrolment.opened
  assert.deepEqual(join(openTests(selfEvaluation, enrolledToken.keyShare)), { linear, short, cross })
  assert.equal(cross, '0')
})

const join = (lists: Record<string, number[]>) =>
  Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.join(' ')]))
