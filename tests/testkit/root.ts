import { fileURLToPath } from 'node:url'

/** The checkout. In a file of its own: the image is built with it, and without the rest of this folder. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
