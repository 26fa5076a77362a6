/** A panel that covers more of the window hides what it asks about. */
const SHARE_MAX = 0.45

/** Whether a panel may stay in view above the text that scrolls behind it. */
export function staysInView(panelPx: number, windowPx: number): boolean {
  return panelPx <= SHARE_MAX * windowPx
}
