/** A flow with the document step and test implementations around it. Only tests import this. */
import type { DocumentFacts, DocumentPayload, OpenedSession } from '@ostiary/contract'
import type { PortraitFace, PortraitSighting } from '@ostiary/faces'
import { createFlowFixture, type FlowFixtureOptions } from '../../flow/testing/fixture.ts'
import type { CameraControls } from '../document-camera.ts'
import type { DocumentSide, ReadFacts } from '../document-types.ts'
import { createDocuments } from '../part.ts'
import type { DocumentLook, DocumentReader, WantedDocument } from '../reader.ts'

export const READ: ReadFacts = {
  reader: { id: 'reader-1', hash: 'A'.repeat(43) },
  type: 'passport',
  format: 'TD3',
  age: { result: 'above' },
  expiry: 'valid',
  checks: { number: true, birth: true, expiry: true, composite: true },
  frames: 3,
  confidence: 987,
  hints: [],
  unusable: null,
  expiredLately: false,
}
export const ASKED: DocumentFacts = {
  when: 'always',
  acceptedTypes: ['passport', 'national_id', 'residence_permit', 'drivers_license', 'other'],
  ageFormat: 'threshold',
  reuseCheck: false,
}
const AREA = { centre: { x: 0, y: 0 }, width: 1, height: 1, angle: 0, faceWidthMin: 60 }

export interface DocumentFixtureOptions extends Omit<FlowFixtureOptions, 'purpose' | 'loadDocuments'> {
  type?: OpenedSession['type']
  requirements?: string[]
  asked?: Partial<DocumentFacts>
  /** What the reader says about pictures of a side, one after the other; the last one again and again. */
  looks?: Partial<Record<DocumentSide, Partial<DocumentLook>[]>>
  /** Score of the face and the portrait. */
  score?: number
  portraits?: PortraitSighting[]
  controls?: Partial<CameraControls>
  /** One per load of the reader: whether it fails. */
  loadFailures?: boolean[]
}

/** A picture that knows whether it was closed. */
function pictureOf(open: Set<object>): ImageBitmap {
  const picture = { width: 1080, height: 1920, close: () => void open.delete(picture) }
  open.add(picture)
  return picture
}

export async function createDocumentFixture(options: DocumentFixtureOptions = {}) {
  const { type = 'AGE', requirements = ['face', 'identity_document'], score = 0.7 } = options
  const seen = { wanted: [] as WantedDocument[], loaded: [] as string[], closed: 0, kept: 0 }
  const openPictures = new Set<object>()
  const page: Partial<DocumentLook>[] = [{ guidance: 'doc_find' }, { guidance: 'doc_hold', read: READ, portrait: AT }]
  const card: ReadFacts = { ...READ, type: 'national_id', format: 'TD1' }
  const scripts: Record<DocumentSide, Partial<DocumentLook>[]> = {
    page,
    front: [{ guidance: 'doc_hold', portrait: AT }],
    back: [{ guidance: 'doc_hold', hasText: true, read: card }],
    ...options.looks,
  }

  function createReader(): DocumentReader {
    return {
      async load(choice) {
        if (options.loadFailures?.shift()) throw new Error('no network')
        seen.loaded.push(choice)
      },
      begin: async (wanted) => void seen.wanted.push(wanted),
      async look(picture, side) {
        const script = scripts[side]
        const look = (script.length > 1 ? script.shift() : script[0]) ?? {}
        if (look.portrait === undefined) picture.close()
        const found = look.portrait && { portrait: { picture, areas: [AREA] } }
        return { guidance: 'doc_find', sharpness: 0.5, hasText: look.read !== undefined, ...look, ...found }
      },
      isPasted: async ({ width }) => width === PASTED_WIDTH,
      close: () => void seen.closed++,
    }
  }

  const controls: CameraControls = {
    list: async () => [{ id: 'c1', label: 'Rear camera' }],
    idOf: () => 'c1',
    torchOf: () => null,
    setTorch: async (_camera, on) => on,
    focus: async () => {},
    ...options.controls,
  }
  const fixture = await createFlowFixture({
    // As a camera does, it gives other work a turn between two pictures.
    grab: () => new Promise((resolve) => setImmediate(() => resolve(pictureOf(openPictures)))),
    ...options,
    purpose: {
      type,
      requirements,
      verification: null,
      document: { ...ASKED, ...options.asked },
    },
    loadDocuments: async () => (link) => createDocuments(link, { createReader, controls }),
    engine: {
      keepFace: async () => void seen.kept++,
      async findPortrait(picture) {
        picture.close()
        return options.portraits?.shift() ?? { is: 'found', face: faceOf(90) }
      },
      comparePortrait: async () => score,
      ...options.engine,
    },
  })
  const { flow, reaches, agree } = fixture
  async function show(choice: 'passport' | 'card' | 'licence' = 'passport'): Promise<void> {
    flow.actions.document({ do: 'begin' })
    await reaches('document', { stage: 'choose' })
    flow.actions.document({ do: 'choose', choice })
  }
  return {
    ...fixture,
    read: seen,
    openPictures,
    /** Starts, consents, and comes to the first screen of the document step; with a choice, to the pictures. */
    async toDocument(choice?: 'passport' | 'card' | 'licence'): Promise<void> {
      await agree()
      await reaches('document', { stage: 'intro' })
      if (choice) await show(choice)
    },
    show,
    /** Sends what was read, when it is shown. */
    async send(): Promise<void> {
      await reaches('document', { stage: 'review' })
      flow.actions.document({ do: 'send' })
    },
    payloads: async () => (await fixture.service.opened('sealed', 'document/submit')) as DocumentPayload[],
  }
}

/** A face of this width is on a pasted portrait. */
export const PASTED_WIDTH = 91
export const faceOf = (width: number): PortraitFace => ({ centre: { x: 400, y: 900 }, width, height: width, angle: 0 })

/** Stands for a picture in which the portrait may be searched; the fixture puts the real one in its place. */
export const AT = { picture: undefined as unknown as ImageBitmap, areas: [] }

/** The face step is done, and the document is next. */
export const faceFirst = () => ({ submit: [{ state: 'DOC_ACTIVE', documentAttemptsLeft: 3 }] })
/** The document comes first, or alone. */
export const documentFirst = () => ({ consent: [{ state: 'DOC_ACTIVE', documentAttemptsLeft: 3 }] })
