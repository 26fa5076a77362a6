import keys from 'virtual:text-keys/documents/'
import type { DocumentMessages } from './document-keys.ts'
import { addDocumentTexts } from './documents-texts.ts'
import type { Texts } from './languages.ts'
import { named } from './named.ts'

const files = named(import.meta.glob('./documents/*.json', { import: 'default' }), async () => keys)

/** Loads a language's texts of the document step and adds them. */
export function documentTextsOf(session: { alone: boolean }): (texts: Texts) => Promise<Texts> {
  return async (texts) => {
    const file = files[`./documents/${texts.tag}.json`]
    if (!file) throw new Error(`There are no texts for ${texts.tag}`)
    return addDocumentTexts(texts, (await file()) as DocumentMessages, session) // Our own file: a test checks that it is complete.
  }
}
