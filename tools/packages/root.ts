import { fileURLToPath } from 'node:url'

/** The root of the checkout. Not the testkit's: the image is built without it. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
