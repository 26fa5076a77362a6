/**
 * The version of the product. Nothing compares it with the versions in the package.json files: a release sets all of them by hand.
 * It has a file of its own, because programs that print it should not load the schemas.
 */
export const VERSION = '0.1.0'
