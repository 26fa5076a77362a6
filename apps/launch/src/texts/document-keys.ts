import type english from './documents/en.json'
import type { createTranslate, Text } from './translate.ts'

/**
 * The texts of the document step: their own keys, and replacements for default texts in a session that asks for nothing but the document.
 * The key of a replacement begins with `alone:`.
 */
type FileKey = keyof typeof english
export type DocumentKey = Exclude<FileKey, `alone:${string}`>
export type DocumentMessages = Readonly<Record<FileKey, Text>>
export type TranslateDocuments = ReturnType<typeof createTranslate<DocumentKey>>
