import keys from 'virtual:text-keys/'
import type { TextFiles } from './languages.ts'
import { named } from './named.ts'

const files = import.meta.glob('./*.json', { import: 'default' })

/** Each language is a separate file, loaded when it is shown. */
export const textFiles: TextFiles = named(files, async () => keys)
