/** The device and the matcher of tests: real tokens, probes, evaluations, signatures and envelopes. Only tests and measures import this. */
import { randomBytes, type webcrypto } from 'node:crypto'
import { type DeviceKey, encodeFrame } from '@ostiary/contract'
import { bodyHash, type PublicJwk, sealForKeyHolder, signTokenStatement } from '@ostiary/crypto'
import { createProbe, createToken, type EnrolledToken, evaluate } from '@ostiary/token'

/** A person with a new token, and what device and matcher have of it. */
export interface Subject {
  realm: string
  account: string
  tokenId: string
  enrolled: EnrolledToken
  deviceKey: DeviceKey
  devicePrivateKey: webcrypto.CryptoKey
  /** The matcher's, for evaluations. */
  secret: Uint8Array
}

export interface EvaluatedProbe {
  probe: Uint8Array
  evaluation: Uint8Array
}

export const newId = () => randomBytes(16).toString('base64url')
const newNonce = () => randomBytes(32).toString('base64url')

export async function createSubject(
  face: ArrayLike<number>,
  { realm = newId(), account = newId(), tokenId = newId() } = {},
): Promise<Subject> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', pair.publicKey)
  return {
    realm,
    account,
    tokenId,
    enrolled: await createToken(Buffer.from(tokenId, 'base64url'), face),
    deviceKey: { kty: 'EC', crv: 'P-256', x, y },
    devicePrivateKey: pair.privateKey,
    secret: randomBytes(32),
  }
}

/** What the device encrypts and the matcher computes from it. */
export async function evaluateFace(
  { enrolled, secret }: Subject,
  face: ArrayLike<number>,
  { isEnrolment = false } = {},
): Promise<EvaluatedProbe> {
  const { token, publicKey, matcherShare } = enrolled
  const probe = await createProbe(publicKey, face)
  return { probe, evaluation: await evaluate({ token, publicKey, matcherShare, probe, secret, isEnrolment }) }
}

/** Differences from what an honest device and an honest matcher send. */
export interface Changes {
  /** Members of the message that are changed before it is signed, or after. */
  signed?: object
  unsigned?: object
  /** Members of the header. */
  header?: object
  token?: Uint8Array
  probe?: Uint8Array
  evaluation?: Uint8Array
  keyShare?: Uint8Array
  signWith?: webcrypto.CryptoKey
}

interface Sending extends EvaluatedProbe {
  /** The key holder's published key and a nonce of it. */
  sealKey: PublicJwk
  nonce: string
}

export async function enrolmentFrame(subject: Subject, sending: Sending, changes: Changes = {}): Promise<Uint8Array> {
  const { token, publicKey, keyShare } = subject.enrolled
  const hashes = { tokenHash: await bodyHash(token), publicKeyHash: await bodyHash(publicKey) }
  const statement = {
    ...(await signedProbe(subject, sending)),
    purpose: 'enrol' as const,
    ...hashes,
    ...changes.signed,
  }
  const signature = await signTokenStatement(changes.signWith ?? subject.devicePrivateKey, statement)
  const message = { ...statement, deviceKey: subject.deviceKey, signature, ...changes.unsigned }
  const sealed = await sealForKeyHolder(sending.sealKey, message, changes.keyShare ?? keyShare)
  return frameOf(subject, sending, { ...changes, header: { sealed, ...changes.header } })
}

export async function comparisonFrame(subject: Subject, sending: Sending, changes: Changes = {}): Promise<Uint8Array> {
  const statement = { ...(await signedProbe(subject, sending)), purpose: 'compare' as const, ...changes.signed }
  const signature = await signTokenStatement(changes.signWith ?? subject.devicePrivateKey, statement)
  const sealed = await sealForKeyHolder(sending.sealKey, { ...statement, signature, ...changes.unsigned })
  return frameOf(subject, sending, { ...changes, header: { sealed, ...changes.header } })
}

async function signedProbe({ realm, account, tokenId }: Subject, { nonce, probe }: Sending) {
  const probeHash = await bodyHash(probe)
  return { realm, account, tokenId, keyHolderNonce: nonce, matcherNonce: newNonce(), probeHash }
}

function frameOf({ realm, account, tokenId, enrolled }: Subject, sending: Sending, changes: Changes): Uint8Array {
  const parts = { token: enrolled.token, probe: sending.probe, evaluation: sending.evaluation, ...given(changes) }
  return encodeFrame({ realm, account, tokenId, ...changes.header }, [parts.token, parts.probe, parts.evaluation])
}

const given = ({ token, probe, evaluation }: Changes) => ({
  ...(token && { token }),
  ...(probe && { probe }),
  ...(evaluation && { evaluation }),
})
