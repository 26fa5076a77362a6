/** Checks of a tenant's settings for the launch page: how it looks (its brand), and which origins may embed it. */
import { type BrandInput, brandProblems, type ErrorDetail } from '@ostiary/contract'

/** The errors that a schema cannot find: a misleading name, unreadable colours, a logo of another type than it claims. */
export function brandErrors({ name, logo = null, primary = null, background = null }: BrandInput): ErrorDetail[] {
  const at = (field: keyof BrandInput, message: string) => ({ pointer: `/brand/${field}`, message })
  return [
    ...(name.trim() !== name || INVISIBLE_CHARACTER.test(name) ? [at('name', BAD_NAME)] : []),
    ...brandProblems({ primary, background }).map(({ field, message }) => at(field, message)),
    ...(logo === null || hasClaimedType(logo) ? [] : [at('logo', BAD_LOGO)]),
  ]
}

/**
 * What is wrong with an origin that is to frame the page, or undefined. Only a plain origin is accepted: it becomes a part of the header
 * `Content-Security-Policy`, where further text could add other origins or directives.
 */
export function embedOriginProblem(entry: string): string | undefined {
  const [, scheme, host] = ORIGIN.exec(entry) ?? []
  if (!URL.canParse(entry) || new URL(entry).origin !== entry || scheme === undefined || host === undefined) {
    return 'must be an origin such as https://shop.example: no path, no wildcard, lower case, no default port'
  }
  return scheme === 'https' || LOOPBACK.has(host) ? undefined : 'must be https; http is for localhost only'
}

/** The origins that may frame the page of a session. Plain http is for development only, so live sessions leave it out. */
export function embedOriginsFor(origins: readonly string[], livemode: boolean): string[] {
  return origins.filter((origin) => !livemode || origin.startsWith('https:'))
}

const ORIGIN = /^(https?):\/\/([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::\d{1,5})?$/
const LOOPBACK = new Set(['localhost', '127.0.0.1'])
const BAD_NAME = 'must be one line without spaces around it and without invisible characters'
const BAD_LOGO = 'is not a picture of the type that its data URL names'
/**
 * Control characters, line separators, the empty Braille pattern, and everything that Unicode says to leave out of the picture: soft
 * hyphens, fillers, direction marks, zero-width spaces. U+200C and U+200D are allowed between letters and the marks on them: Persian and
 * Indian scripts need these joiners.
 */
const INVISIBLE_CHARACTER =
  /[\p{Cc}\p{Zl}\p{Zp}\u2800]|(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}|(?<![\p{L}\p{M}])[\u200c\u200d]|[\u200c\u200d](?!\p{L})/u

/** Whether the bytes begin like a picture of the type that the data URL names. */
function hasClaimedType(dataUrl: string): boolean {
  const comma = dataUrl.indexOf(',')
  const bytes = Buffer.from(dataUrl.slice(comma + 1), 'base64')
  const type = /^data:image\/([a-z+]+);/.exec(dataUrl)?.[1]
  if (type === 'png') return bytes.subarray(0, 8).equals(PNG)
  if (type === 'webp') return bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP'
  const text = bytes.toString('utf8').replaceAll(/<!--[\s\S]*?-->/g, '')
  return text.trimStart().startsWith('<') && /<([a-z][^\s/>]*)/i.exec(text)?.[1] === 'svg'
}
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
