import Type from 'typebox'
import { DEVICE_ERRORS, PROOF_HEADER } from './launch.ts'
import { DeviceKey, SessionId } from './launch-session.ts'
import { TOKEN_SIZES } from './limits.ts'
import { type Operation, operation, type Part } from './operation.ts'
import { LAUNCH_PATHS } from './paths.ts'

/* The homomorphic token in the device API (docs/token.md), for tenants that have set `templates`. */

/** base64url of exactly so many bytes. */
const bytesText = (bytes: number, description: string) => {
  const chars = Math.ceil((bytes * 4) / 3)
  return Type.String({ minLength: chars, maxLength: chars, pattern: '^[A-Za-z0-9_-]+$', description })
}
const Id = Type.String({ pattern: '^[A-Za-z0-9_-]{22}$', description: '16 bytes in base64url' })
const TokenNonce = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })
const TokenSignature = Type.String({ pattern: '^[A-Za-z0-9_-]{86}$', description: 'ECDSA P-256 in base64url' })
const SealedForKeyHolder = (maxLength: number) =>
  Type.String({
    maxLength,
    description: 'Compact JWE to the key holder’s key. This service passes it on and cannot read it',
  })

/** What a device needs to make a token or a probe. */
export const TokenBegun = Type.Object(
  {
    tokenId: Id,
    account: Type.String({ ...Id, description: 'The person, as matcher and key holder name them' }),
    realm: Type.String({ description: 'Names the tenant and its mode' }),
    matcherNonce: TokenNonce,
    keyHolderNonce: Type.String({ ...TokenNonce, description: 'From the key holder, used once' }),
    keyHolderKey: Type.Object(DeviceKey.properties, {
      description:
        'The key holder’s key for what is sealed to it. The page compares its fingerprint with the one in its build',
    }),
    publicKey: Type.Union([bytesText(TOKEN_SIZES.publicKey, 'The token’s public key'), Type.Null()], {
      description: 'SIGN-IN and VERIFY: the key under which the probe is encrypted; null in an ENROLL',
    }),
    renewalDue: Type.Optional(
      Type.Boolean({
        description:
          'SIGN-IN and VERIFY: the token’s time or its number of comparisons is nearly over. The device should begin a successor',
      }),
    ),
    wantsToken: Type.Boolean({
      description: 'Whether the device keeps the sealed token (`token_on_device`) and sends it with the probe',
    }),
  },
  { title: 'TokenBegun' },
)
export type TokenBegun = Type.Static<typeof TokenBegun>

const shared = { area: 'D', group: 'device', auth: 'none', headers: PROOF_HEADER, method: 'POST' } as const
const errors = [...DEVICE_ERRORS, 'CHALLENGE_NOT_VALID', 'KEY_HOLDER_UNAVAILABLE'] as const

export const launchTokenBegin = operation({
  ...shared,
  operationId: 'launchTokenBegin',
  path: LAUNCH_PATHS.tokenBegin,
  summary: 'Begin an enrolment or a comparison by token',
  description:
    'For sessions whose `verification.templates` is not `vector`, while a challenge is under way. An ENROLL gets new ids. Otherwise `tokenId` and `proof` ' +
    'say which token this device holds the key of: the proof signs session, nonce of the challenge and token id. An unknown token and a wrong proof get the same answer.',
  body: Type.Object(
    {
      sessionId: SessionId,
      tokenId: Type.Optional(Id),
      proof: Type.Optional(TokenSignature),
      for: Type.Optional(
        Type.Literal('successor', {
          description:
            'SIGN-IN and VERIFY: a new token for `launchTokenEnrol`. It replaces the token that this challenge has begun with, or a stored vector (`migrates`)',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  success: { 200: { description: 'Ids, nonces and keys', schema: TokenBegun } },
  errors: [...errors, 'NO_TOKEN'],
})

export const TokenEnrolled = Type.Object(
  {
    tokenId: Id,
    sealedToken: Type.Union([Type.String(), Type.Null()], {
      description: '`token_on_device`: the sealed token in base64url, which this device keeps; null otherwise',
    }),
  },
  { title: 'TokenEnrolled' },
)
export type TokenEnrolled = Type.Static<typeof TokenEnrolled>

export const launchTokenEnrol = operation({
  ...shared,
  operationId: 'launchTokenEnrol',
  path: LAUNCH_PATHS.tokenEnrol,
  summary: 'Send a new token',
  description:
    'The token, its public key, the matcher’s share, a probe of the same face, and the key holder’s share, sealed to the key holder. ' +
    'Both services verify the signature; the key holder tests that token and probe carry one face. The person is enrolled by the submit that follows.',
  body: Type.Object(
    {
      sessionId: SessionId,
      token: bytesText(TOKEN_SIZES.token, 'The token'),
      publicKey: bytesText(TOKEN_SIZES.publicKey, 'Its public key'),
      matcherShare: bytesText(TOKEN_SIZES.matcherShare, 'The matcher’s share of the key'),
      probe: bytesText(TOKEN_SIZES.probe, 'A probe of the same vector'),
      deviceKey: DeviceKey,
      signature: TokenSignature,
      sealed: SealedForKeyHolder(TOKEN_SIZES.sealedShareChars),
    },
    { additionalProperties: false },
  ),
  success: { 200: { description: 'Both services hold their part', schema: TokenEnrolled } },
  errors: [...errors, 'TOKEN_REFUSED'],
})

export type TokenEnrolBody = Part<typeof launchTokenEnrol, 'body'>

export const launchTokenProbe = operation({
  ...shared,
  operationId: 'launchTokenProbe',
  path: LAUNCH_PATHS.tokenProbe,
  summary: 'Send a probe',
  description:
    'An encryption of the face just captured. It is compared after the submit that follows, once, and only if the capture is accepted.',
  body: Type.Object(
    {
      sessionId: SessionId,
      probe: bytesText(TOKEN_SIZES.probe, 'The probe'),
      signature: TokenSignature,
      sealed: SealedForKeyHolder(TOKEN_SIZES.sealedBindChars),
      sealedToken: Type.Optional(Type.String({ maxLength: TOKEN_SIZES.sealedTokenChars, pattern: '^[A-Za-z0-9_-]+$' })),
    },
    { additionalProperties: false },
  ),
  success: {
    200: { description: 'Stored until the submit', schema: Type.Object({ tokenId: Id }, { title: 'TokenProbed' }) },
  },
  errors: [...errors, 'TOKEN_REFUSED'],
})

export type TokenProbeBody = Part<typeof launchTokenProbe, 'body'>

export const TOKEN_OPERATIONS: readonly Operation[] = [launchTokenBegin, launchTokenEnrol, launchTokenProbe]
