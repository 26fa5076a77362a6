/** Parses the answer of an authenticator that a page sends, and checks what needs no key. */
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { type Refused, refuse } from './types.ts'

// The standard's limit for ids, and generous limits otherwise: an answer has some hundreds of bytes.
const MAX_CHARS = {
  id: 1364,
  clientData: 4096,
  attestation: 8192,
  authenticatorData: 2048,
  signature: 1024,
  handle: 88,
}
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const
export type Transport = (typeof TRANSPORTS)[number]

const bytes = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$' })
const shared = { id: bytes(MAX_CHARS.id), rawId: bytes(MAX_CHARS.id), type: Type.Literal('public-key') }
// Browsers send more fields than are listed here, and add new ones over time.
const Registration = Type.Object({
  ...shared,
  response: Type.Object({
    clientDataJSON: bytes(MAX_CHARS.clientData),
    attestationObject: bytes(MAX_CHARS.attestation),
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 16 })),
  }),
})
const Assertion = Type.Object({
  ...shared,
  response: Type.Object({
    clientDataJSON: bytes(MAX_CHARS.clientData),
    authenticatorData: bytes(MAX_CHARS.authenticatorData),
    signature: bytes(MAX_CHARS.signature),
    userHandle: Type.Optional(Type.Union([bytes(MAX_CHARS.handle), Type.Null()])),
  }),
})
const ClientData = Type.Object({
  type: Type.String(),
  challenge: Type.String(),
  origin: Type.String(),
  crossOrigin: Type.Optional(Type.Boolean()),
  topOrigin: Type.Optional(Type.String()),
})
export type ClientData = Type.Static<typeof ClientData>

const registrations = Compile(Registration)
const assertions = Compile(Assertion)
const clientDatas = Compile(ClientData)

export interface RegistrationAnswer {
  credentialId: string
  clientDataJson: string
  clientData: ClientData
  attestationObject: string
  /** The transports that we know, each once. An unverified hint. */
  transports: Transport[]
}

export interface AssertionAnswer {
  credentialId: string
  clientDataJson: string
  clientData: ClientData
  authenticatorData: string
  signature: string
  userHandle: string | null
}

export function readRegistration(sent: unknown): RegistrationAnswer | undefined {
  if (!registrations.Check(sent)) return undefined
  const { clientDataJSON, attestationObject, transports = [] } = sent.response
  const clientData = readClientData(clientDataJSON)
  if (!clientData || sent.id !== sent.rawId || !areBytes(sent.id, attestationObject)) return undefined
  return {
    credentialId: sent.id,
    clientDataJson: clientDataJSON,
    clientData,
    attestationObject,
    transports: TRANSPORTS.filter((known) => transports.includes(known)),
  }
}

export function readAssertion(sent: unknown): AssertionAnswer | undefined {
  if (!assertions.Check(sent)) return undefined
  const { clientDataJSON, authenticatorData, signature, userHandle = null } = sent.response
  const clientData = readClientData(clientDataJSON)
  if (!clientData || sent.id !== sent.rawId) return undefined
  if (!areBytes(sent.id, authenticatorData, signature, userHandle ?? '')) return undefined
  return {
    credentialId: sent.id,
    clientDataJson: clientDataJSON,
    clientData,
    authenticatorData,
    signature,
    userHandle,
  }
}

export interface Expected {
  type: 'webauthn.create' | 'webauthn.get'
  challenge: string
  origin: string
}

/** Compares the browser's client data with what was requested. It runs before the signature check to give a precise reason. */
export function clientDataRefusal(clientData: ClientData, expected: Expected): Refused | undefined {
  if (clientData.type !== expected.type) return refuse('wrong_type')
  if (expected.challenge === '' || clientData.challenge !== expected.challenge) return refuse('wrong_challenge')
  // A frame in a page of another origin: the person may not have known which site asked them.
  const isFramed = clientData.crossOrigin === true || clientData.topOrigin !== undefined
  if (clientData.origin !== expected.origin || isFramed) return refuse('wrong_origin')
  return undefined
}

function readClientData(base64url: string): ClientData | undefined {
  if (!areBytes(base64url)) return undefined
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64url, 'base64url'))
    const parsed: unknown = JSON.parse(text)
    return clientDatas.Check(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

/** Accepts only the canonical base64url text: otherwise one answer could be sent as two different texts. */
function areBytes(...texts: readonly string[]): boolean {
  return texts.every((text) => Buffer.from(text, 'base64url').toString('base64url') === text)
}
