import type { TextFiles } from './languages.ts'

/** Each language is a separate file, loaded when it is shown. */
export const textFiles: TextFiles = import.meta.glob('./*.json', { import: 'default' })
