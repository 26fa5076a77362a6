/** What a browser tells about its user, as far as it matters on an end screen. */
export interface Sign {
  type: string
  /** The heading of a screen gets the focus from the page itself. */
  isOnHeading: boolean
  /** By how many pixels a pointer moved. Browsers also send moves of none, when something else comes under the pointer. */
  movedPx: number
}

/** After one of these somebody is reading or using the page. */
export const SIGNS = ['keydown', 'pointerdown', 'pointermove', 'touchstart', 'wheel', 'scroll', 'focusin'] as const

/** Whether somebody is there: then an end screen stays until they leave it. */
export function isActivity({ type, isOnHeading, movedPx }: Sign): boolean {
  if (type === 'pointermove') return movedPx > 0
  if (type === 'focusin') return !isOnHeading
  return SIGNS.some((name) => name === type)
}

/** How the page came to show its end: a page that the user came back to, or that has something open, stays from the start. */
export function staysFromTheStart(page: { isFromHistory: boolean; hasOpenDialog: boolean }): boolean {
  return page.isFromHistory || page.hasOpenDialog
}
