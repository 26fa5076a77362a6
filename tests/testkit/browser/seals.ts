import { inflateRawSync } from 'node:zlib'
import type { BrowserContext } from 'playwright-core'

/** The payload that a page seals (docs/internal/launch.md), with the fields that tests check. */
export interface Sealed {
  sessionId?: string
  nonce?: string
  face?: { vector: string }
  token?: { id: string }
  successor?: { id: string }
  local?: { hit?: boolean }
  /** In tenths of a year, with the number of frames. */
  estimate?: { age: number; frames: number }
  metadata?: Record<string, unknown>
  /** Of a selfie. */
  jpeg?: string
}

export interface SealWatch {
  /** All payloads that this device sealed so far, in order. */
  readonly all: readonly Sealed[]
  /** The captures of one session. */
  of(sessionId: string): Sealed[]
}

/**
 * Requests are sealed, so a recording of them shows no content. This hook reads the plain text where the page passes it to
 * the browser's cryptography. Call it before the page is opened.
 */
export async function watchSeals(context: BrowserContext): Promise<SealWatch> {
  const all: Sealed[] = []
  await context.exposeBinding('tellPlainText', (_source, base64: string) => {
    const sealed = read(Buffer.from(base64, 'base64'))
    if (sealed) all.push(sealed)
  })
  await context.addInitScript(TELL_PLAIN_TEXT)
  return { all, of: (wanted) => all.filter(({ sessionId }) => sessionId === wanted) }
}

const TELL_PLAIN_TEXT = `(() => {
  const { encrypt } = SubtleCrypto.prototype
  SubtleCrypto.prototype.encrypt = async function (algorithm, key, content) {
    const bytes = ArrayBuffer.isView(content)
      ? new Uint8Array(content.buffer, content.byteOffset, content.byteLength)
      : new Uint8Array(content)
    await globalThis.tellPlainText(bytes.toBase64())
    return encrypt.call(this, algorithm, key, content)
  }
})()`

/** Undefined for other encrypted data, such as the token that stays on the device. */
function read(content: Buffer): Sealed | undefined {
  try {
    return JSON.parse(inflateRawSync(content).toString())
  } catch {
    return undefined
  }
}
