import type { OpenedSession } from '@ostiary/contract'
import type { CreateDocuments } from '../flow/documents-part.ts'
import type { NotedRequest } from '../ledger/ledger.ts'
import { documentTextsOf } from '../texts/documents-text-files.ts'
import { isAlone } from '../texts/documents-texts.ts'
import type { Texts } from '../texts/languages.ts'
import { createCameraControls } from './document-camera.ts'
import { createDocuments } from './part.ts'
import { ADDITIONS, SCREENS } from './screens/screens.tsx'
import { startReader } from './start-reader.ts'
import { addDocumentStyle } from './style.ts'

/** The document step, in one file of the built page that sessions without a document never load. What reads documents is loaded later. */
export function setUpDocuments(session: OpenedSession, onRequest: (request: NotedRequest) => void) {
  const apis = {
    createReader: () => startReader(onRequest),
    controls: createCameraControls(navigator.mediaDevices),
  }
  const create: CreateDocuments = (link) => createDocuments(link, apis)
  const addTexts = documentTextsOf({ alone: isAlone(session) })
  const styled = addDocumentStyle()
  return {
    create,
    screens: SCREENS,
    additions: ADDITIONS,
    async addTexts(texts: Texts): Promise<Texts> {
      const [added] = await Promise.all([addTexts(texts), styled])
      return added
    },
  }
}
