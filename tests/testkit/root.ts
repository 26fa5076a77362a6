import { fileURLToPath } from 'node:url'

/** The root of the checkout. In its own file because the image is built with it and without the rest of this folder. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
