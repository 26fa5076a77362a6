/**
 * Registration and assertion, checked by @simplewebauthn/server, and what that library leaves open: the id beside the answer must
 * be the one inside it, keys must be usable, signatures have one spelling, certificates are not read. Knows no database.
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

/** Of a passkey on record, what an assertion is checked with. */
export interface CredentialKey {
  credentialId: string
  publicKey: Uint8Array
}

export interface Shown {
  counter: number
  deviceType: NewCredential['deviceType']
  backedUp: boolean
}

// Below every counter there is. The library compares counters before it looks at the signature; whoever marks a passkey
// because of its counter must know first that the passkey said so.
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
    // The library refuses by throwing, with texts that quote the answer.
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
    // The library takes a signature with something behind it, or with its lengths written otherwise.
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

/** A counter must grow. Authenticators that do not count say 0 always. */
export function hasGoneBack(known: number, shown: number): boolean {
  return (known > 0 || shown > 0) && shown <= known
}

function signedBytes({ authenticatorData, clientDataJson }: AssertionAnswer): Buffer {
  const clientDataHash = createHash('sha256').update(Buffer.from(clientDataJson, 'base64url')).digest()
  return Buffer.concat([Buffer.from(authenticatorData, 'base64url'), clientDataHash])
}

/** When a passkey is first needed, because it takes a third of a second and 25 MB. */
async function loadLibrary() {
  const [library, helpers] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ])
  return { ...library, helpers }
}
type Helpers = Awaited<ReturnType<typeof loadLibrary>>['helpers']

/** None, as was asked for, or signed by the new key itself, which browsers pass on. Nobody's certificates are parsed. */
function isPlainAttestation(helpers: Helpers, attestationObject: string): boolean {
  const decoded = helpers.decodeAttestationObject(helpers.isoBase64URL.toBuffer(attestationObject))
  const format = decoded.get('fmt')
  return format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined)
}
