/**
 * Between the JSON in which options and answers travel and the buffers that `navigator.credentials` has. Newer browsers can do
 * this by themselves; those that cannot have passkeys too.
 */
type Json = Record<string, unknown>

/** The part of an answer that this file reads; a credential of a browser has it, and so has one in a test. */
export interface PasskeyAnswer {
  id: string
  rawId: ArrayBuffer
  type: string
  authenticatorAttachment: string | null
  response: object
  getClientExtensionResults(): object
}

// Both are built by our own service in the standard's form; buffers are all that JSON cannot have. We ask for no extensions.
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

/** An answer of either kind: whatever of its response is a buffer becomes text. */
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
