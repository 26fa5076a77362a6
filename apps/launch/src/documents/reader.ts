import type { DocumentStep } from '@ostiary/contract'
import type { PortraitArea, PortraitFace } from '@ostiary/faces'
import type { LoadProgress } from '../engine/engine.ts'
import type { DocumentChoice, DocumentGuidance, DocumentSide, ReadFacts } from './document-types.ts'

/** Reads documents in a worker of its own. Texts of documents stay there; only facts come out. */
export interface DocumentReader {
  /** Fetches what this choice needs. After a failure, call it again. */
  load(choice: DocumentChoice, onProgress: (progress: LoadProgress) => void): Promise<void>
  /** Another document: forgets everything that was read. */
  begin(wanted: WantedDocument): Promise<void>
  /** Looks at one picture. It closes the bitmap, or gives it back for the search of the portrait. */
  look(picture: ImageBitmap, side: DocumentSide): Promise<DocumentLook>
  /** Whether the portrait looks pasted. `face`: where its face is in the last picture that was given back. */
  isPasted(face: PortraitFace): Promise<boolean>
  close(): void
}

/** What the device needs to judge a document itself. */
export interface WantedDocument
  extends Pick<DocumentStep, 'today' | 'acceptedTypes' | 'expiryGraceDays' | 'age' | 'reuseKey'> {
  choice: DocumentChoice
}

/** What one picture shows. */
export interface DocumentLook {
  guidance: DocumentGuidance
  /** 0 to 1. */
  sharpness: number
  /** Lines or a barcode are in the picture, read or not. */
  hasText: boolean
  /** Where the portrait of this side may be. Absent while the picture is not good enough. */
  portrait?: { picture: ImageBitmap; areas: PortraitArea[] }
  /** Of a text that was accepted, in this picture or in one before. */
  read?: ReadFacts
}
