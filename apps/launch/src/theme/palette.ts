import {
  BRAND_CONTRAST_MIN,
  BRAND_EDGE_CONTRAST_MIN,
  BRAND_INK,
  BRAND_PAPER,
  contrastOf,
  textOn,
} from '@ostiary/contract'

export type Scheme = 'light' | 'dark'

/** The tenant's colours as they came; the server has checked them, and the page checks again. */
export interface BrandColours {
  primary: string | null
  background: string | null
}

/** What a brand changes; what it leaves alone is absent. */
export interface Palette {
  /** Of buttons, and of the text on them. */
  accent?: string
  onAccent?: string
  /** Around buttons: a colour that hardly stands off from the surface gets an edge that does. */
  accentEdge?: string
  /** Of links, the ring and the focus mark: always to be seen on the page's own surface. */
  accentText?: string
  /** Around the card, and of the text there. */
  backdrop?: string
  onBackdrop?: string
}

/** The surface that everything is read on, as style/tokens.css has it. */
export const SURFACE: Readonly<Record<Scheme, string>> = { light: '#ffffff', dark: '#16191d' }

const COLOUR = /^#[0-9a-f]{6}$/i
const STEP = 0.06

/**
 * Colours for a brand. Where a primary does not stand off from the surface, a shade of it that does is used for links and
 * edges, so that no tenant can make a button or a link that nobody sees. A background counts only in the scheme it fits: a white one
 * does not blind a user who asked for dark.
 */
export function paletteOf({ primary, background }: BrandColours, scheme: Scheme): Palette {
  return { ...accentsOf(primary, scheme), ...backdropOf(background, scheme) }
}

function accentsOf(primary: string | null, scheme: Scheme): Palette {
  if (primary === null || !COLOUR.test(primary)) return {}
  const accentText = stoodOff(primary, scheme, BRAND_CONTRAST_MIN)
  // Mid tones leave neither dark nor white text enough contrast: then the accent gives way until one of them has it.
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

/** The colour itself, or the nearest one on its way to dark (or, on a dark surface, to white) that has the contrast. */
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
