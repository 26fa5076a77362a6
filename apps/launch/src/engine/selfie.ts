import type { Picture } from '@ostiary/faces'

/** Of the longer side. A face that fills a third of it can still be recognised by a person. */
export const SELFIE_SIDE = 640
/** The service takes 200 KB; base64 and the seal are not counted there. */
export const SELFIE_BYTES_MAX = 150 * 1024
const QUALITIES = [0.9, 0.8, 0.7, 0.55, 0.4, 0.25]

export interface Size {
  width: number
  height: number
}

/** The largest size of this shape that is not too large. Small pictures stay as they are. */
export function fitted({ width, height }: Size): Size {
  const share = Math.min(1, SELFIE_SIDE / Math.max(width, height))
  return { width: Math.round(width * share), height: Math.round(height * share) }
}

/** Makes it as good as its limit lets it be. */
export async function encodeSmall(encode: (quality: number) => Promise<Blob>): Promise<Uint8Array<ArrayBuffer>> {
  for (const quality of QUALITIES) {
    const blob = await encode(quality)
    if (blob.size <= SELFIE_BYTES_MAX) return new Uint8Array(await blob.arrayBuffer())
  }
  throw new Error('The picture cannot be made small enough')
}

/** Only inside a worker or a page: needs canvases. */
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
