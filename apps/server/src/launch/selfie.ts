import { LAUNCH_LIMITS, VERIFICATION_LIMITS } from '@ostiary/contract'
import { openPayload, SealError } from '@ostiary/crypto'
import { AppError } from '../platform/errors.ts'
import { nodeMeans } from '../platform/node-crypto.ts'
import type { Progress, Session } from '../sessions/index.ts'
import { unfitPayload } from './sealed.ts'

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
/** Base64 of the largest picture, with the JSON around it. */
const INFLATED_BYTES = Math.ceil((VERIFICATION_LIMITS.selfieBytes * 4) / 3) + 64

/** Opens the picture that a session shares. Checks only that it is a JPEG of an allowed size. Returns base64. */
export async function openSelfie(session: Session, { sealKey }: Progress, sealed: string): Promise<string | AppError> {
  if (!sealKey) return badSelfie('key')
  const limits = {
    sessionId: session.sessionId,
    maxBytes: LAUNCH_LIMITS.submitBytes,
    maxInflatedBytes: INFLATED_BYTES,
  }
  try {
    const jpeg = jpegOf(await openPayload(sealKey, sealed, limits, nodeMeans))
    return jpeg ?? badSelfie('selfie')
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    return error.fault === 'inflated' || error.fault === 'size' ? tooLarge() : badSelfie(error.fault)
  }
}

/** The picture in what was sealed, in base64; undefined for anything else than one JPEG of an allowed size. */
export function jpegOf(content: unknown): string | undefined {
  if (typeof content !== 'object' || content === null) return undefined
  const { jpeg, ...rest }: { jpeg?: unknown } = content
  if (typeof jpeg !== 'string' || Object.keys(rest).length > 0 || !BASE64.test(jpeg)) return undefined
  const bytes = Buffer.from(jpeg, 'base64')
  const isJpeg = bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff
  const isWhole = bytes.at(-2) === 0xff && bytes.at(-1) === 0xd9
  return isJpeg && isWhole && bytes.length <= VERIFICATION_LIMITS.selfieBytes ? jpeg : undefined
}

const badSelfie = (detail: string) => unfitPayload(detail, '/body/selfie')
const tooLarge = () => new AppError('too_large', 'PAYLOAD_TOO_LARGE', 'The selfie is too large')
