/* In a file of its own: the launch page draws the oval on its first camera screen, before it loads the guide. */

/** Where the face should be, in pixels of the picture as the camera gives it: middle and half axes. */
export interface Oval {
  x: number
  y: number
  rx: number
  ry: number
}

/** The oval in which the face should be, for the guidance and for the screen that draws it. */
export function ovalFor(width: number, height: number): Oval {
  const rx = Math.min(width * 0.34, height * 0.3)
  return { x: width / 2, y: height * 0.48, rx, ry: Math.min((rx * 4) / 3, height * 0.46) }
}
