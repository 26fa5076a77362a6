/**
 * Checks registrations and assertions with @simplewebauthn/server, and adds what that library leaves open: the id beside the answer
 * must equal the one inside it, keys must be usable, signatures must be canonical, certificates are not parsed. Does not use the database.
 */
import { createHash } from 'node:crypto'
import { type AssertionAnswer, clientDataRefusal, type RegistrationAnswer } from './answer.ts'
import { hasSigned, isUsableKey } from './cose-key.ts'
import { ALGORITHMS, userHandleOf } from './options.ts'
import { type NewCredential, refuse, type Verdict } from './types.ts'

export interface RelyingParty {
  rpId: string
  origin: string
}

/** The part of a stored passkey that an assertion is checked with. */
export interface CredentialKey {
  credentialId: string
  publicKey: Uint8Array
}

export interface Shown {
  counter: number
  deviceType: NewCredential['deviceType']
  backedUp: boolean
}

// Lower than every counter. The library compares counters before it checks the signature; we compare them afterwards, so that
// a passkey is suspended only for a counter that it has signed.
const NO_COUNTER = -1

export async function checkRegistration(
  { rpId, origin }: RelyingParty,
  answer: RegistrationAnswer,
  challenge: string,
): Promise<Verdict<{ credential: NewCredential }>> {
  const refused = clientDataRefusal(answer.clientData, { type: 'webauthn.create', challenge, origin })
  if (refused) return refused
  const { verifyRegistrationResponse, helpers } = await loadLibrary()
  try {
    if (!isPlainAttestation(helpers, answer.attestationObject)) return refuse('not_verified')
    const { credentialId: id, clientDataJson: clientDataJSON, attestationObject, transports } = answer
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        response: { clientDataJSON, attestationObject },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...ALGORITHMS],
    })
    if (!verified || registrationInfo.credential.id !== id) return refuse('not_verified')
    const { credential, credentialDeviceType, credentialBackedUp, aaguid } = registrationInfo
    if (!isUsableKey(helpers.decodeCredentialPublicKey(credential.publicKey))) return refuse('not_verified')
    return {
      ok: true,
      credential: {
        credentialId: id,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        counter: credential.counter,
        transports,
        deviceType: credentialDeviceType,
        backedUp: credentialBackedUp,
        aaguid,
        userHandle: userHandleOf(challenge),
      },
    }
  } catch {
    // The library throws on a refusal, with texts that quote the answer: they must not reach the log.
    return refuse('not_verified')
  }
}

export async function checkAssertion(
  { rpId, origin }: RelyingParty,
  answer: AssertionAnswer,
  { challenge, key }: { challenge: string; key: CredentialKey },
): Promise<Verdict<{ shown: Shown }>> {
  const refused = clientDataRefusal(answer.clientData, { type: 'webauthn.get', challenge, origin })
  if (refused) return refused
  if (answer.credentialId !== key.credentialId) return refuse('unknown_credential')
  const { verifyAuthenticationResponse, helpers } = await loadLibrary()
  try {
    const { credentialId: id, clientDataJson: clientDataJSON, authenticatorData, signature } = answer
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        response: { clientDataJSON, authenticatorData, signature },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      credential: { id, publicKey: new Uint8Array(key.publicKey), counter: NO_COUNTER },
    })
    // The library accepts a signature with trailing bytes or a different encoding of its lengths.
    const publicKey = helpers.decodeCredentialPublicKey(new Uint8Array(key.publicKey))
    const isSigned = hasSigned(publicKey, signedBytes(answer), Buffer.from(signature, 'base64url'))
    if (!verified || !isSigned) return refuse('not_verified')
    const { newCounter, credentialDeviceType, credentialBackedUp } = authenticationInfo
    return {
      ok: true,
      shown: { counter: newCounter, deviceType: credentialDeviceType, backedUp: credentialBackedUp },
    }
  } catch {
    return refuse('not_verified')
  }
}

/** A counter must grow. Authenticators that do not count always send 0. */
export function hasGoneBack(known: number, shown: number): boolean {
  return (known > 0 || shown > 0) && shown <= known
}

function signedBytes({ authenticatorData, clientDataJson }: AssertionAnswer): Buffer {
  const clientDataHash = createHash('sha256').update(Buffer.from(clientDataJson, 'base64url')).digest()
  return Buffer.concat([Buffer.from(authenticatorData, 'base64url'), clientDataHash])
}

/** Loads the library when a passkey is first used, because that takes a third of a second and 25 MB. */
async function loadLibrary() {
  const [library, helpers] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ])
  return { ...library, helpers }
}
type Helpers = Awaited<ReturnType<typeof loadLibrary>>['helpers']

/** Accepts no attestation, as requested, or one that the new key itself signed, which some browsers send. Certificates are not parsed. */
function isPlainAttestation(helpers: Helpers, attestationObject: string): boolean {
  const decoded = helpers.decodeAttestationObject(helpers.isoBase64URL.toBuffer(attestationObject))
  const format = decoded.get('fmt')
  return format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined)
}
