import type { Picture } from '@ostiary/faces'

/** Pixels of the longer side. A person can still recognise a face that fills a third of it. */
export const SELFIE_SIDE = 640
/** The service accepts 200 KB, not counting base64 and the seal. */
export const SELFIE_BYTES_MAX = 150 * 1024
const QUALITIES = [0.9, 0.8, 0.7, 0.55, 0.4, 0.25]

export interface Size {
  width: number
  height: number
}

/** Scales the size down to the limit and keeps the aspect ratio. Small pictures stay as they are. */
export function fitted({ width, height }: Size): Size {
  const share = Math.min(1, SELFIE_SIDE / Math.max(width, height))
  return { width: Math.round(width * share), height: Math.round(height * share) }
}

/** Encodes with the best quality that fits the limit. */
export async function encodeSmall(encode: (quality: number) => Promise<Blob>): Promise<Uint8Array<ArrayBuffer>> {
  for (const quality of QUALITIES) {
    const blob = await encode(quality)
    if (blob.size <= SELFIE_BYTES_MAX) return new Uint8Array(await blob.arrayBuffer())
  }
  throw new Error('The picture cannot be made small enough')
}

/** Needs a canvas, so it runs only in a worker or a page. */
export async function jpegOf(picture: Picture): Promise<Uint8Array<ArrayBuffer>> {
  const { width, height } = fitted(picture)
  const bitmap = await createImageBitmap(
    new ImageData(new Uint8ClampedArray(picture.data), picture.width, picture.height),
  )
  const canvas = new OffscreenCanvas(width, height)
  const context = canvas.getContext('2d')
  if (!context) throw new Error('No canvas to draw on')
  context.imageSmoothingQuality = 'high'
  context.drawImage(bitmap, 0, 0, width, height)
  bitmap.close()
  return encodeSmall((quality) => canvas.convertToBlob({ type: 'image/jpeg', quality }))
}
