/** Rules for a tenant's colours. Pure functions, so that the server that refuses a colour and the page that shows it agree. */
export const BRAND_INK = '#14161b'
export const BRAND_PAPER = '#ffffff'

/** WCAG 2.2, level AA: text on its ground, and a control on its surroundings. */
export const BRAND_CONTRAST_MIN = 4.5
export const BRAND_EDGE_CONTRAST_MIN = 3

export interface BrandColours {
  primary: string | null
  background: string | null
}

export interface BrandProblem {
  field: keyof BrandColours
  message: string
}

/** What is wrong with colours of the form `#rrggbb`, as messages for the operator who chose them. */
export function brandProblems({ primary, background }: BrandColours): BrandProblem[] {
  const problems: BrandProblem[] = []
  for (const [field, colour] of [
    ['primary', primary],
    ['background', background],
  ] as const) {
    if (colour === null) continue
    const ratio = contrastOf(colour, textOn(colour))
    if (ratio >= BRAND_CONTRAST_MIN) continue
    const message = `leaves text a contrast of ${inWords(ratio)}, and it needs ${BRAND_CONTRAST_MIN}: choose a lighter or a darker colour`
    problems.push({ field, message })
  }
  if (primary !== null && background !== null && contrastOf(primary, background) < BRAND_EDGE_CONTRAST_MIN) {
    const ratio = inWords(contrastOf(primary, background))
    const message = `has a contrast of ${ratio} to the background, and a button needs ${BRAND_EDGE_CONTRAST_MIN} to be seen`
    problems.push({ field: 'primary', message })
  }
  return problems
}

/** The colour of text on a ground: dark or white, whichever can be read better. */
export function textOn(ground: string): typeof BRAND_INK | typeof BRAND_PAPER {
  return contrastOf(ground, BRAND_INK) >= contrastOf(ground, BRAND_PAPER) ? BRAND_INK : BRAND_PAPER
}

/** The contrast ratio of two colours as WCAG 2 defines it: 1 for none, 21 for black on white. */
export function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => linear(Number.parseInt(colour.slice(at, at + 2), 16)))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function linear(channel: number): number {
  const share = channel / 255
  return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
}

/** Rounded down, so that no message refuses a colour for a contrast of "4.5". */
const inWords = (ratio: number) => (Math.floor(ratio * 100) / 100).toFixed(2)
