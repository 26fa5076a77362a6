/** The role of an outsider: he reaches both services and has no credential of either, or only what he has recorded. */
import { KEY_HOLDER_PATHS } from '@ostiary/contract'
import { readServiceKey, SERVICE_SIGNATURE_HEADER, signServiceRequest } from '@ostiary/crypto'
import { createTokenKeys, DeviceError, proveToken } from '@ostiary/device'
import { type Changes, comparisonFrame, createCaller, evaluateFace, newSeed, sendTo } from '@ostiary/key-holder/testing'
import type { Figure } from '@ostiary/testkit/measuring/figure'
import { atLeast, atMost, type Say } from './token-figures.ts'
import { countedFor, type Person, type Scene, subjectOf } from './token-scene.ts'

const DEADLINE_MS = 250
/** The id of no token. */
const UNKNOWN = `${'A'.repeat(21)}Q`

export async function tryFromOutside(scene: Scene, { say }: { say: Say }): Promise<Figure[]> {
  const person = await scene.enrol()
  return [
    ...(await callUnsigned(scene, person, say)),
    ...(await guessTokens(scene, person, say)),
    ...(await compareRejects(scene, person, say)),
    ...(await lockOwner(scene, person, say)),
  ]
}

/** Calls of the key holder without a signature, with one of another key, recorded ones, and one for another path. */
async function callUnsigned({ keyHolder, asMatcher }: Scene, person: Person, say: Say): Promise<Figure[]> {
  const { realm, tokenId } = person.kept
  const paths = Object.values(KEY_HOLDER_PATHS)
  const body = Buffer.from(JSON.stringify({ realm, tokenId }))
  const send = (path: string, header: Record<string, string>) =>
    fetch(`${keyHolder.url}${path}`, {
      ...(path === KEY_HOLDER_PATHS.key ? { headers: header } : { method: 'POST', body, headers: header }),
    })
  const stranger = await createCaller({ send: sendTo(keyHolder.url), seed: newSeed(), published: keyHolder.published })
  const statuses: number[] = []
  for (const path of paths) {
    statuses.push((await send(path, {})).status)
    const method = path === KEY_HOLDER_PATHS.key ? 'GET' : 'POST'
    statuses.push((await stranger.call(method, path, method === 'GET' ? new Uint8Array() : { realm, tokenId })).status)
  }
  const { privateKey } = await readServiceKey(Buffer.from(keyHolder.matcherSeed, 'base64url'))
  const path = KEY_HOLDER_PATHS.nonces
  const once = { requestId: 'R'.repeat(22), timeMs: Date.now() }
  const recorded = {
    [SERVICE_SIGNATURE_HEADER]: await signServiceRequest(privateKey, { method: 'POST', path, body }, once),
  }
  const first = (await send(path, recorded)).status
  // Recorded on the wire: the same again, and an erasure with the signature of a harmless call.
  statuses.push((await send(path, recorded)).status, (await send(KEY_HOLDER_PATHS.erasures, recorded)).status)
  const answered = statuses.filter((status) => status !== 401 && status !== 409).length
  const isKnown = await asMatcher.confirm(subjectOf(person))
  say(`outsider: ${statuses.length} calls of the key holder without a right to, ${answered} answered`)
  return [
    atMost('outsider.unsigned-calls-answered', answered, 0),
    atLeast('outsider.control-signed-call-answered', first === 200 && isKnown ? 1 : 0, 1),
  ]
}

/** A begin for a token of somebody else says the same as one for a token that does not exist. */
async function guessTokens(scene: Scene, person: Person, say: Say): Promise<Figure[]> {
  const stranger = await createTokenKeys()
  const other = await scene.enrol()
  const begin = async (tokenId: string, keys = stranger, named = tokenId) => {
    const { device, clock } = await scene.openDevice()
    await device.open()
    await clock.pass(3_000)
    await device.consent(true)
    const { nonce } = await device.challenge()
    const proof = await proveToken(keys, { sessionId: device.sessionId, nonce, tokenId: named })
    try {
      return (await device.tokenBegin({ tokenId, proof })).tokenId
    } catch (error) {
      if (error instanceof DeviceError) return `${error.status} ${error.code} ${error.message}`
      throw error
    }
  }
  const { tokenId, keys } = person.kept
  const answers = [
    await begin(UNKNOWN),
    await begin(tokenId),
    // The key of another person, and a proof of the right key for another token.
    await begin(tokenId, other.kept.keys),
    await begin(tokenId, keys, other.kept.tokenId),
  ]
  const control = await begin(tokenId, keys)
  say(`outsider: begins of ${answers.length} tokens that are not his: ${[...new Set(answers)].join('; ')}`)
  return [
    atMost('outsider.answers-to-guessed-tokens', new Set(answers).size, 1),
    atMost('outsider.tokens-shown', answers.filter((answer) => answer === tokenId).length, 0),
    atLeast('outsider.control-owner-begins', control === tokenId ? 1 : 0, 1),
  ]
}

/** Every reason of a reject, as the matcher gets it: one answer, none before the deadline, and at the same time. */
async function compareRejects(scene: Scene, person: Person, say: Say): Promise<Figure[]> {
  const { asMatcher, keyHolder } = scene
  const subject = subjectOf(person)
  const probe = await evaluateFace(subject, person.face)
  const stranger = await evaluateFace(subject, scene.picture(person.face, 0.1))
  const { sealKey } = keyHolder.published
  const frame = async (changes: Changes, of = subject, sent = probe) =>
    comparisonFrame(of, { ...sent, sealKey, nonce: await asMatcher.nonceFor(of) }, changes)
  // From the first check to the last.
  const timed = [
    () => frame({ header: { sealed: 'no.envelope.at.all.x' } }),
    () => frame({}, { ...subject, tokenId: UNKNOWN }),
    () => frame({ unsigned: { signature: 'A'.repeat(86) } }),
    () => frame({ token: person.made.token.map((byte) => byte ^ 1) }),
    () => frame({}, subject, stranger),
  ]
  const others = [
    () => frame({ signed: { purpose: 'enrol' } }),
    () => frame({ header: { account: 'A'.repeat(22) } }),
    () => frame({ signed: { keyHolderNonce: 'A'.repeat(43) } }),
    () => frame({ signed: { probeHash: 'A'.repeat(43) } }),
    () => frame({ evaluation: new Uint8Array(10) }),
  ]
  const answers = new Set<string>()
  let earliest = Number.POSITIVE_INFINITY
  const ask = async (make: () => Promise<Uint8Array>) => {
    const body = await make()
    const started = performance.now()
    const { status, content } = await asMatcher.call('POST', KEY_HOLDER_PATHS.evaluations, body)
    const tookMs = performance.now() - started
    answers.add(`${status} ${JSON.stringify(content)}`)
    earliest = Math.min(earliest, tookMs)
    return tookMs
  }
  await Promise.all(others.map(ask))
  // A busy machine adds to each time; of two the smaller is nearer to what the service does.
  const times = timed.map(() => Number.POSITIVE_INFINITY)
  for (const n of [...timed.keys(), ...timed.keys()])
    times[n] = Math.min(times[n] ?? 0, await ask(timed[n] as (typeof timed)[number]))
  const spread = Math.max(...times) - Math.min(...times)
  say(
    `outsider: ${timed.length + others.length} reasons to reject, answered ${[...answers].join('; ')}, ` +
      `after ${times.map((tookMs) => tookMs.toFixed(0)).join(', ')} ms`,
  )
  return [
    atMost('outsider.different-answers', answers.size, 1),
    atLeast('outsider.earliest-answer-ms', earliest, DEADLINE_MS),
    { ...atMost('outsider.spread-of-answers-ms', spread, DEADLINE_MS / 2), load: true },
  ]
}

/** Failures without a valid signature, far more than a person may have: the owner signs in all the same. */
async function lockOwner(scene: Scene, person: Person, say: Say): Promise<Figure[]> {
  const subject = subjectOf(person)
  const probe = await evaluateFace(subject, person.face)
  const before = await countedFor(scene, person)
  const { privateKey } = await createTokenKeys(true)
  const tries = 14
  await Promise.all(
    Array.from({ length: tries }, () => scene.asMatcher.compare(subject, probe, { signWith: privateKey })),
  )
  const after = await countedFor(scene, person)
  const counted =
    after.keyHolder.failures + after.matcher.failures - before.keyHolder.failures - before.matcher.failures
  const end = await scene.signIn(person)
  say(`outsider: ${tries} unsigned failures, ${counted} counted, the owner then: ${end === 'lost' ? end : end.state}`)
  return [
    atMost('outsider.failures-counted', counted, 0),
    atLeast('outsider.owner-not-locked', end !== 'lost' && end.puid === person.puid ? 1 : 0, 1),
  ]
}
