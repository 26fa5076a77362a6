import type { Picture } from '@ostiary/faces'

/** Reuses one canvas as long as the pictures have the same size. */
export function pixelReader(): (bitmap: ImageBitmap) => Picture {
  let canvas = new OffscreenCanvas(1, 1)
  let context = canvas.getContext('2d', { willReadFrequently: true })
  return (bitmap) => {
    const { width, height } = bitmap
    if (canvas.width !== width || canvas.height !== height) {
      canvas = new OffscreenCanvas(width, height)
      context = canvas.getContext('2d', { willReadFrequently: true })
    }
    if (!context) throw new Error('No canvas to read pixels with')
    context.drawImage(bitmap, 0, 0)
    const { data } = context.getImageData(0, 0, width, height)
    return { width, height, data }
  }
}
