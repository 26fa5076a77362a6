import { type BrandColours, type Palette, paletteOf, type Scheme } from './palette.ts'

const PROPERTY_OF: Readonly<Record<keyof Palette, string>> = {
  accent: '--accent',
  onAccent: '--on-accent',
  accentEdge: '--accent-edge',
  accentText: '--accent-text',
  backdrop: '--backdrop',
  onBackdrop: '--on-backdrop',
}

/** Applies the tenant's colours, and again when the user switches between light and dark. */
export function applyTheme(colours: BrandColours, root: HTMLElement): void {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const paint = () => {
    const scheme: Scheme = (root.dataset.scheme ?? (dark.matches ? 'dark' : 'light')) === 'dark' ? 'dark' : 'light'
    const palette = paletteOf(colours, scheme)
    for (const name of NAMES) {
      const colour = palette[name]
      // Through the CSSOM, because the content security policy forbids inline styles.
      if (colour === undefined) root.style.removeProperty(PROPERTY_OF[name])
      else root.style.setProperty(PROPERTY_OF[name], colour)
    }
  }
  dark.addEventListener('change', paint)
  paint()
}

const NAMES = [
  'accent',
  'onAccent',
  'accentEdge',
  'accentText',
  'backdrop',
  'onBackdrop',
] as const satisfies readonly (keyof Palette)[]
