import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { eventually } from './system.ts'
import type { Visit } from './visit.ts'

const READER = createRequire(import.meta.url).resolve('jsqr')

/** Reads the address in the QR code of the handoff from its picture, and checks that the text beside it is the same. */
export async function scan(visit: Visit): Promise<string> {
  await visit.screen(['handoff'])
  await visit.attributeIs('data-status', 'ready')
  // A picture may be taken while the screen still comes in.
  const url = await eventually('the code can be read', () => readQrCode(visit.page))
  const written = await visit.page.locator('[data-handoff-url]').first().getAttribute('data-handoff-url')
  assert.equal(url, written)
  return url
}

/** Types the number that the first page shows on the page that joined with its code. */
export async function typeNumber(first: Visit, joined: Visit): Promise<void> {
  await joined.screen(['number'])
  await enterNumber(joined, await numberOn(first))
}

/** Types a number that the first page does not show. */
export async function typeWrongNumber(first: Visit, joined: Visit): Promise<void> {
  await joined.screen(['number'])
  await enterNumber(joined, (await numberOn(first)) === '47' ? '74' : '47')
}

async function numberOn({ frame }: Visit): Promise<string> {
  const number = (await frame.locator('[data-number]').textContent()) ?? ''
  assert.match(number, /^\d\d$/)
  return number
}

async function enterNumber({ frame, act }: Visit, number: string): Promise<void> {
  await frame.locator('input[name="number"]').fill(number)
  await act('number')
}

/** Reads the QR code on a page from its picture, as another camera would. Undefined when there is no readable code. */
async function readQrCode(page: Page): Promise<string | undefined> {
  const picture = await page.screenshot()
  const reader = await page.context().newPage()
  try {
    await reader.addScriptTag({ path: READER })
    const read = await reader.evaluate(`(async () => {
      const image = new Image()
      image.src = 'data:image/png;base64,${picture.toString('base64')}'
      await image.decode()
      const { width, height } = image
      const canvas = new OffscreenCanvas(width, height).getContext('2d')
      canvas.drawImage(image, 0, 0)
      return jsQR(canvas.getImageData(0, 0, width, height).data, width, height)?.data
    })()`)
    return typeof read === 'string' ? read : undefined
  } finally {
    await reader.close()
  }
}
