/**
 * `node tests/conformance/token-vectors.ts` writes docs/token-test-vectors.json, the published test vectors of the homomorphic token;
 * `--check` fails when the file differs. The messages come from @ostiary/token; docs/examples/token/open.ts opens them without it.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { ROOT } from '@ostiary/testkit/run'
import { type EnrolledToken, evaluate, quantise, TOKEN_PARAMETERS } from '@ostiary/token'
import { createProbeFrom, createRepeatable, createTokenFrom, openEvaluation } from '@ostiary/token/testing'

export const PATH = 'docs/token-test-vectors.json'
const TOKEN_ID = bytesFor('token id').subarray(0, 16)
const SECRET = bytesFor('matcher secret')
const TOKEN_RANDOMNESS = bytesFor('token randomness')
const PROBE_RANDOMNESS = bytesFor('probe randomness')
const SELF_PROBE_RANDOMNESS = bytesFor('self-probe randomness')
/** Score, norm, both linear tests and the first short test: the rest would make the file three times as large. */
const START_BYTES = 135_254

export interface PublishedVectors {
  token: string
  public_key: string
  probe: string
  matcher_share: string
  key_share: string
  matcher_secret_hex: string
  evaluation_start: string
  evaluation_sha256: string
  enrolled: string
  fresh: string
  opened: Opened
  enrolment: { self_probe_sha256: string; evaluation_sha256: string; opened: Opened }
}

interface Opened {
  score: number
  probe_norm: number
  linear: string
  short: string
  cross: string
}

/** All messages of the file, in full. */
export async function makeMessages() {
  const [face, change] = [numbersBy(37), numbersBy(53)]
  const enrolled = quantise(face)
  const fresh = quantise(face.map((value, i) => 5 * value + 4 * (change[i] ?? 0)))
  const enrolledToken = await createTokenFrom(TOKEN_ID, enrolled, await createRepeatable(TOKEN_RANDOMNESS))
  const { publicKey } = enrolledToken
  const probe = await createProbeFrom(publicKey, fresh, await createRepeatable(PROBE_RANDOMNESS))
  const selfProbe = await createProbeFrom(publicKey, enrolled, await createRepeatable(SELF_PROBE_RANDOMNESS))
  const evaluation = await evaluate({ ...enrolledToken, probe, secret: SECRET, isEnrolment: false })
  const selfEvaluation = await evaluate({ ...enrolledToken, probe: selfProbe, secret: SECRET, isEnrolment: true })
  return { enrolled, fresh, enrolledToken, probe, selfProbe, evaluation, selfEvaluation }
}

async function makeDocument(): Promise<string> {
  const { enrolled, fresh, enrolledToken, probe, selfProbe, evaluation, selfEvaluation } = await makeMessages()
  const { token, publicKey, matcherShare, keyShare } = enrolledToken
  const published: PublishedVectors & Record<string, unknown> = {
    title: 'Test vectors of the homomorphic token, format 1',
    about:
      'Made by tests/conformance/token-vectors.ts; docs/examples/token/open.ts opens them without any code of Ostiary. The vectors are ' +
      'invented and belong to nobody. Messages are base64. The evaluation is longer than the file may be: evaluation_start is its start ' +
      '(score, norm, both linear tests, the first short test), and evaluation_sha256 is of the whole, which the matcher computes from the ' +
      'messages and matcher_secret_hex. The randomness of token and probes is AES-256-CTR under HKDF-SHA-256 of the given seeds with the ' +
      'label "ostiary token 1 test vectors". A real token takes its randomness from the system.',
    parameters: TOKEN_PARAMETERS,
    enrolled: enrolled.join(' '),
    fresh: fresh.join(' '),
    token_randomness_hex: hex(TOKEN_RANDOMNESS),
    probe_randomness_hex: hex(PROBE_RANDOMNESS),
    self_probe_randomness_hex: hex(SELF_PROBE_RANDOMNESS),
    matcher_secret_hex: hex(SECRET),
    token_sha256: sha256(token),
    probe_sha256: sha256(probe),
    evaluation_sha256: sha256(evaluation),
    opened: await open(enrolledToken, { probe, evaluation, isEnrolment: false }),
    enrolment: {
      self_probe_sha256: sha256(selfProbe),
      evaluation_sha256: sha256(selfEvaluation),
      opened: await open(enrolledToken, { probe: selfProbe, evaluation: selfEvaluation, isEnrolment: true }),
    },
    token: base64(token),
    public_key: base64(publicKey),
    probe: base64(probe),
    matcher_share: base64(matcherShare),
    key_share: base64(keyShare),
    evaluation_start: base64(evaluation.subarray(0, START_BYTES)),
  }
  return `${JSON.stringify(published, null, 2)}\n`
}

async function open(
  { token, keyShare }: EnrolledToken,
  rest: { probe: Uint8Array; evaluation: Uint8Array; isEnrolment: boolean },
): Promise<Opened> {
  const { score, probeNorm, linear, short, cross } = await openEvaluation({ token, keyShare, ...rest })
  return { score, probe_norm: probeNorm, linear: linear.join(' '), short: short.join(' '), cross: cross.join(' ') }
}

/** 512 numbers of both signs by an obvious rule, so that nobody suspects a hidden choice. */
function numbersBy(factor: number): number[] {
  return Array.from({ length: 512 }, (_, i) => ((factor * i * i + 11 * i) % 101) - 50)
}

function bytesFor(label: string): Buffer {
  return createHash('sha256').update(`ostiary/token-test-vector/${label}`).digest()
}

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

if (import.meta.main) {
  const document = await makeDocument()
  if (!process.argv.includes('--check')) writeFileSync(`${ROOT}${PATH}`, document)
  else if (readFileSync(`${ROOT}${PATH}`, 'utf8') !== document) {
    console.error(`${PATH} is not what the code makes: node tests/conformance/token-vectors.ts writes it again`)
    process.exitCode = 1
  }
}
