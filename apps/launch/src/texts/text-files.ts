import type { TextFiles } from './languages.ts'

/** Each language is a file of its own, fetched when it is shown. */
export const textFiles: TextFiles = import.meta.glob('./*.json', { import: 'default' })
