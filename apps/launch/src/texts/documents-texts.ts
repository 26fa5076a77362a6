import type { OpenedSession } from '@ostiary/contract'
import type { DocumentKey, DocumentMessages, TranslateDocuments } from './document-keys.ts'
import type { Texts } from './languages.ts'
import { createTranslate, type Text, type Translate } from './translate.ts'

/** Whether a session asks for nothing but the document. */
export function isAlone({ requirements }: Pick<OpenedSession, 'requirements'>): boolean {
  return requirements.includes('identity_document') && !requirements.includes('face')
}

/** Adds the texts of the document step to those of a language. */
export function addDocumentTexts(texts: Texts, messages: DocumentMessages, { alone }: { alone: boolean }): Texts {
  const table: Readonly<Record<string, Text | undefined>> = messages
  const t: Translate = (key, values) => {
    const text = alone ? table[`alone:${key}`] : undefined
    return text === undefined ? texts.t(key, values) : createTranslate<string>({ [key]: text }, texts)(key, values)
  }
  return { ...texts, t, documents: createTranslate<DocumentKey>(messages, texts) }
}

/** The texts that only such a session has. */
export function documentText({ documents }: Texts): TranslateDocuments {
  if (!documents) throw new Error('This session never asks for a document')
  return documents
}
