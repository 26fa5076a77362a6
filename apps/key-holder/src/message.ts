import { decodeFrame, EvaluationHeader, FRAME_PARTS, FrameError, KEY_HOLDER_LIMITS } from '@ostiary/contract'
import { openAtKeyHolder, type PrivateJwk, SealError } from '@ostiary/crypto'
import type Type from 'typebox'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { CallError, ensure, Refused } from './errors.ts'

export interface EvaluationFrame {
  header: EvaluationHeader
  token: Uint8Array
  probe: Uint8Array
  evaluation: Uint8Array
}

const headers = Compile(EvaluationHeader)

/** The frame comes from the matcher: a wrong one is its mistake and is answered with 400. */
export function readFrame(body: Uint8Array): EvaluationFrame {
  try {
    const { message, parts } = decodeFrame(body, {
      parts: FRAME_PARTS.length,
      messageBytes: KEY_HOLDER_LIMITS.headerBytes,
    })
    const [token, probe, evaluation] = parts
    if (token && probe && evaluation && headers.Check(message)) return { header: message, token, probe, evaluation }
  } catch (error) {
    if (!(error instanceof FrameError)) throw error
  }
  throw new CallError(400, 'The body is not a frame of this kind')
}

type Named = { realm: string; account: string; tokenId: string }

/** Opens what the device has sealed. The device comes through the matcher: whatever is wrong with it is a reject. */
export async function openMessage<T extends TSchema>(
  check: ReturnType<typeof Compile<T>>,
  key: PrivateJwk,
  header: EvaluationHeader,
): Promise<{ message: Type.Static<T> & Named; bytes: Uint8Array }> {
  const { message, bytes } = await openAtKeyHolder(key, header.sealed, KEY_HOLDER_LIMITS.headerBytes).catch((error) => {
    if (error instanceof SealError) throw new Refused('envelope')
    throw error
  })
  ensure('message', check.Check(message))
  const found = message as Type.Static<T> & Named
  const isOfHeader =
    found.realm === header.realm && found.account === header.account && found.tokenId === header.tokenId
  ensure('header', isOfHeader)
  return { message: found, bytes }
}
