import { before, type TestContext } from 'node:test'
import type { DocumentSide, Holder } from '../samples/documents.ts'
import { type DeviceOptions, startBrowser, type TestBrowser } from './browser.ts'
import { type HeldDocument, type LiveCamera, startLiveCamera } from './live-camera.ts'
import { showFace, type Visit, visitOn } from './visit.ts'
import type { Visitor } from './visitors.ts'

/** Visitors who hold documents before a camera of 1280x720. The camera and its browser are shared by all tests of a process. */
let shared: Promise<{ camera: LiveCamera; browser: TestBrowser }> | undefined

function documentBrowser() {
  shared ??= startLiveCamera('baseline', { size: '1280x720' }).then(async (camera) => ({
    camera,
    browser: await startBrowser({ cameraFile: camera.file }),
  }))
  return shared
}

/** The camera alone, for browsers that take their pictures in another way. */
export const documentCamera = async (): Promise<LiveCamera> => (await documentBrowser()).camera

/** Starts drawing before the first test, and draws these documents as they will be held. */
export function prepareDocumentBrowser(documents: readonly HeldDocument[] = []): void {
  before(async () => {
    documentBrowser()
      .then(async ({ camera }) => {
        for (const document of documents) await camera.prepare(document)
      })
      .catch(() => {}) // The first test that needs it gets the error.
  })
}

export async function newDocumentVisitor(t: TestContext, options?: DeviceOptions): Promise<Visitor> {
  const { camera, browser } = await documentBrowser()
  const device = await browser.device(options)
  t.after(async () => {
    camera.show('rest')
    camera.slowDown(1)
    await device.close()
  })
  return { visit: visitOn(await device.page()), device, camera }
}

export type DocumentChoice = 'passport' | 'card' | 'licence'

/** From the words about documents to the camera: chooses, and stays on this device where the page offers the phone. */
export async function chooseDocument(visit: Visit, choice: DocumentChoice): Promise<void> {
  await atStage(visit, ['intro'])
  await visit.act('document-begin')
  await atStage(visit, ['choose'])
  await visit.act(`document-${choice}`)
  if ((await atStage(visit, ['device', 'show'])) === 'device') await visit.act('document-here')
  await atStage(visit, ['show'])
}

/** Shows the face for the comparison alone, again and again while the service could not judge it. */
export async function lookAgain(visit: Visit, camera: LiveCamera): Promise<void> {
  await atStage(visit, ['look'])
  do {
    await visit.act('document-look')
    await showFace(visit, camera)
  } while ((await atStage(visit, ['intro', 'look_again'])) === 'look_again')
}

/** Holds the sides of a document before the camera, each when the page asks for it. Returns the stage that follows. */
export async function holdDocument(
  visit: Visit,
  camera: LiveCamera,
  sides: Readonly<Partial<Record<'page' | 'front' | 'back', DocumentSide>>>,
  how: Omit<HeldDocument, 'document'> = {},
): Promise<string> {
  for (const side of ['page', 'front', 'back'] as const) {
    const document = sides[side]
    if (!document) continue
    await visit.attributeIs('data-side', side)
    await camera.hold({ document, ...how })
  }
  return atStage(visit, ['review', 'problem', 'light'])
}

/** The values that the page says it will send, by name. */
export async function valuesToSend(visit: Visit): Promise<Record<string, string>> {
  await atStage(visit, ['review'])
  const rows = visit.frame.locator('[data-value]')
  const read = await rows.evaluateAll((elements) =>
    elements.map((element) => [element.dataset.value ?? '', element.querySelector('dd')?.textContent ?? '']),
  )
  return Object.fromEntries(read)
}

/** Waits for a stage of the document step, and returns which one it is. */
export async function atStage(visit: Visit, stages: readonly string[]): Promise<string> {
  const wanted = visit.frame.locator(
    stages.map((stage) => `main[data-screen="document"][data-stage="${stage}"]`).join(','),
  )
  try {
    await wanted.waitFor({ timeout: WAIT_MS })
  } catch (error) {
    const main = visit.frame.locator('main[data-screen]').first()
    const shown = await main.evaluate((element) => JSON.stringify({ ...element.dataset })).catch(() => 'nothing')
    throw new Error(
      `Waiting for the stage ${stages.join(' or ')}; shown: ${shown}; faults: ${visit.faults.join(' | ')}`,
      {
        cause: error,
      },
    )
  }
  return (await wanted.getAttribute('data-stage')) ?? ''
}
const WAIT_MS = 120_000

/** Every way in which a value of a document could be written in what leaves the device. */
function writings(holder: Holder): string[] {
  const { familyName, givenNames, number, birth, expiry } = holder
  const days = [birth, expiry].flatMap((day) => {
    const [year = '', month = '', dayOfMonth = ''] = day.split('-')
    const short = year.slice(2)
    return [
      day,
      year + month + dayOfMonth,
      short + month + dayOfMonth,
      month + dayOfMonth + year,
      dayOfMonth + month + year,
    ]
  })
  return [familyName, givenNames, number, ...days]
}

/** Fails if a name, a number or a date of the document is in what left the device: as it is, in small letters, or in base64 at any offset. */
export function checkNothingPersonal(sent: readonly Buffer[], holder: Holder): void {
  for (const bytes of sent) {
    const text = bytes.toString('latin1')
    const small = text.toLowerCase()
    for (const value of writings(holder)) {
      if (small.includes(value.toLowerCase())) throw new Error(`"${value}" left the device`)
      for (const encoded of inBase64(value))
        if (text.includes(encoded)) throw new Error(`"${value}" left the device in base64`)
    }
  }
}

/** The letters of base64 that do not depend on what stands before and after the value, for each of three offsets. */
function inBase64(value: string): string[] {
  return [value, value.toLowerCase()].flatMap((text) =>
    [0, 1, 2].map((offset) => {
      const encoded = Buffer.from('\0'.repeat(offset) + text)
        .toString('base64')
        .replace(/=+$/, '')
      const from = offset === 0 ? 0 : offset + 1
      return encoded.slice(from, encoded.length - ((offset + text.length) % 3 === 0 ? 0 : 1))
    }),
  )
}
