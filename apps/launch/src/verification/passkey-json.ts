/**
 * Converts between the JSON of the contract and the buffers of `navigator.credentials`. Newer browsers can do this themselves;
 * older ones with passkeys cannot.
 */
type Json = Record<string, unknown>

/** The part of a credential that this file reads. */
export interface PasskeyAnswer {
  id: string
  rawId: ArrayBuffer
  type: string
  authenticatorAttachment: string | null
  response: object
  getClientExtensionResults(): object
}

// Our own service builds both in the standard's form; only buffers differ from JSON. We request no extensions.
export function creationOf(json: Json): PublicKeyCredentialCreationOptions {
  const { extensions: _, ...options } = json as unknown as PublicKeyCredentialCreationOptionsJSON
  return {
    ...options,
    challenge: toBytes(options.challenge),
    user: { ...options.user, id: toBytes(options.user.id) },
    excludeCredentials: (options.excludeCredentials ?? []).map(descriptorOf),
  } as PublicKeyCredentialCreationOptions
}

export function requestOf(json: Json): PublicKeyCredentialRequestOptions {
  const { extensions: _, ...options } = json as unknown as PublicKeyCredentialRequestOptionsJSON
  return {
    ...options,
    challenge: toBytes(options.challenge),
    allowCredentials: (options.allowCredentials ?? []).map(descriptorOf),
  } as PublicKeyCredentialRequestOptions
}

/** Converts an answer of either kind: every buffer of its response becomes text. */
export function answerToJson(answer: PasskeyAnswer): Json {
  const { response } = answer
  const parts = BUFFERS.flatMap((name) => {
    const value: unknown = Reflect.get(response, name)
    return value instanceof ArrayBuffer ? [[name, toText(value)] as const] : []
  })
  return {
    id: answer.id,
    rawId: toText(answer.rawId),
    type: answer.type,
    response: { ...Object.fromEntries(parts), ...transportsOf(response) },
    clientExtensionResults: answer.getClientExtensionResults(),
    ...(answer.authenticatorAttachment !== null && { authenticatorAttachment: answer.authenticatorAttachment }),
  }
}

const BUFFERS = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'] as const

function transportsOf(response: object): { transports?: unknown } {
  const read: unknown = Reflect.get(response, 'getTransports')
  return typeof read === 'function' ? { transports: read.call(response) } : {}
}

function descriptorOf({ id, ...rest }: PublicKeyCredentialDescriptorJSON) {
  return { ...rest, id: toBytes(id) }
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0))
}

function toText(buffer: ArrayBuffer): string {
  const letters = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join('')
  return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
