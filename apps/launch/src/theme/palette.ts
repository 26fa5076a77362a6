import {
  BRAND_CONTRAST_MIN,
  BRAND_EDGE_CONTRAST_MIN,
  BRAND_INK,
  BRAND_PAPER,
  contrastOf,
  textOn,
} from '@ostiary/contract'

export type Scheme = 'light' | 'dark'

/** The tenant's colours as received. The server has validated them, and the page does so again. */
export interface BrandColours {
  primary: string | null
  background: string | null
}

/** The colours that a brand changes. Unchanged ones are absent. */
export interface Palette {
  /** Buttons and their text. */
  accent?: string
  onAccent?: string
  /** The edge of buttons: it has contrast to the surface even if the button has little. */
  accentEdge?: string
  /** Links, the progress ring and the focus mark: always visible on the page's surface. */
  accentText?: string
  /** The area around the card and its text. */
  backdrop?: string
  onBackdrop?: string
}

/** The surface behind all texts, as in style/tokens.css. */
export const SURFACE: Readonly<Record<Scheme, string>> = { light: '#ffffff', dark: '#16191d' }

const COLOUR = /^#[0-9a-f]{6}$/i
const STEP = 0.06

/**
 * Colours for a brand. If a primary colour lacks contrast to the surface, links and edges use a shade of it that has enough, so
 * that no tenant can make an invisible button or link. A background applies only in the scheme that it fits: a white one does not
 * blind a user who asked for dark.
 */
export function paletteOf({ primary, background }: BrandColours, scheme: Scheme): Palette {
  return { ...accentsOf(primary, scheme), ...backdropOf(background, scheme) }
}

function accentsOf(primary: string | null, scheme: Scheme): Palette {
  if (primary === null || !COLOUR.test(primary)) return {}
  const accentText = stoodOff(primary, scheme, BRAND_CONTRAST_MIN)
  // On a mid tone neither dark nor white text has enough contrast: the accent changes until one of them has.
  const accent = contrastOf(primary, textOn(primary)) >= BRAND_CONTRAST_MIN ? primary : accentText
  const isSeen = contrastOf(accent, SURFACE[scheme]) >= BRAND_EDGE_CONTRAST_MIN
  return { accent, onAccent: textOn(accent), accentEdge: isSeen ? accent : accentText, accentText }
}

function backdropOf(background: string | null, scheme: Scheme): Palette {
  if (background === null || !COLOUR.test(background)) return {}
  const onBackdrop = textOn(background)
  const fits = (onBackdrop === BRAND_INK) === (scheme === 'light')
  return fits && contrastOf(background, onBackdrop) >= BRAND_CONTRAST_MIN ? { backdrop: background, onBackdrop } : {}
}

/** The colour itself, or the nearest darker one (on a dark surface: lighter) with enough contrast. */
function stoodOff(colour: string, scheme: Scheme, contrastMin: number): string {
  const towards = scheme === 'light' ? BRAND_INK : BRAND_PAPER
  for (let share = 0; share < 1; share += STEP) {
    const mixed = mix(colour, towards, share)
    if (contrastOf(mixed, SURFACE[scheme]) >= contrastMin) return mixed
  }
  return towards
}

function mix(from: string, to: string, share: number): string {
  const channel = (at: number) => {
    const [a, b] = [from, to].map((colour) => Number.parseInt(colour.slice(at, at + 2), 16))
    return Math.round((a ?? 0) + ((b ?? 0) - (a ?? 0)) * share)
      .toString(16)
      .padStart(2, '0')
  }
  return `#${channel(1)}${channel(3)}${channel(5)}`
}
